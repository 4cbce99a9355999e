import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, flags } from "../src/program";

const HERE = { setting: "", folder: "/home/ada/shop", trusted: true, PATH: "/usr/bin:bin:/home/ada/shop/tools", home: "/home/ada", windows: false };

test("the workspace's environment comes first, then PATH, and no relative folder of it", () => {
  assert.deepEqual(candidates(HERE), ["/home/ada/shop/.venv/bin/specedit", "/home/ada/shop/venv/bin/specedit", "/usr/bin/specedit", "/home/ada/shop/tools/specedit"]);
});

test("nothing inside of a workspace that is not trusted is started", () => {
  assert.deepEqual(candidates({ ...HERE, trusted: false }), ["/usr/bin/specedit"]);
  for (const setting of ["/home/ada/shop/x", "x", "${workspaceFolder}/x", "../shop/x"]) {
    assert.deepEqual(candidates({ ...HERE, trusted: false, setting }), [], setting);
  }
  assert.deepEqual(candidates({ ...HERE, trusted: false, setting: "/opt/x" }), ["/opt/x"]);
});

test("the setting is the only place, and may begin with the home or the workspace", () => {
  assert.deepEqual(candidates({ ...HERE, setting: "~/x" }), ["/home/ada/x"]);
  assert.deepEqual(candidates({ ...HERE, setting: "${workspaceFolder}/x" }), ["/home/ada/shop/x"]);
  assert.deepEqual(candidates({ ...HERE, setting: "x", folder: undefined }), []);
});

test("Windows has its own names", () => {
  const windows = { ...HERE, folder: "C:\\shop", PATH: "C:\\tools;.", windows: true };
  assert.deepEqual(candidates(windows), ["C:\\shop\\.venv\\Scripts\\specedit.exe", "C:\\shop\\venv\\Scripts\\specedit.exe", "C:\\tools\\specedit.exe"]);
  assert.deepEqual(candidates({ ...windows, trusted: false, setting: "c:\\SHOP\\x.exe" }), []);
});

test("settings become flags, defaults none", () => {
  assert.deepEqual(flags({ model: "", threads: 0, server: "auto" }), []);
  assert.deepEqual(flags({ model: "m", threads: 2, server: "off" }), ["--model", "m", "--threads", "2", "--server", "off"]);
});
