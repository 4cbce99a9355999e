"use strict";
// A pass is one thing wherever it stands: its tokens, its bars, its dot. Point at one, see all.
for (const run of document.querySelectorAll("section[data-run]")) {
  const about = document.getElementById("about");
  let lit = null;
  const light = (pass) => {
    if (pass === lit) return;
    for (const one of run.querySelectorAll(".lit")) one.classList.remove("lit");
    lit = pass;
    if (pass === null) { about.textContent = about.dataset.rest; return; }
    for (const one of run.querySelectorAll(`[data-pass="${pass}"]`)) one.classList.add("lit");
    const row = run.querySelector(`tr[data-pass="${pass}"]`);
    about.textContent = row ? row.dataset.about : "";
  };
  run.addEventListener("mouseover", (event) => {
    const over = event.target.closest("[data-pass]");
    light(over ? over.dataset.pass : null);
  });
  run.addEventListener("mouseleave", () => light(null));
}
