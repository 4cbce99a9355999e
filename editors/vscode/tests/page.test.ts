import assert from "node:assert/strict";
import { test } from "node:test";
import { remembered } from "../src/history";
import { sealed } from "../src/page";

const HEAD = `<meta content="default-src 'none'; script-src 'unsafe-inline'">`;

test("only the page's own script may run", () => {
  assert.equal(sealed(`${HEAD}text<script>own</script>`, "n"), `<meta content="default-src 'none'; script-src 'nonce-n'">text<script nonce="n">own</script>`);
});

test("a page of another shape runs no script", () => {
  assert.equal(sealed("<SCRIPT src=x></SCRIPT>", "n"), "<template src=x></SCRIPT>");
});

test("an instruction that comes again moves to the front", () => {
  assert.deepEqual(remembered(["a", "b"], "b"), ["b", "a"]);
  assert.equal(remembered(Array.from({ length: 60 }, (_, number) => `${number}`), "new").length, 50);
});
