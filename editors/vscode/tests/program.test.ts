import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, flags } from "../src/program";

const HERE = { setting: "", folder: "/work", trusted: true, PATH: "/usr/bin:bin:/work/tools", home: "/home/me", windows: false };

test("the workspace's environment comes first, then PATH, and no relative folder of it", () => {
  assert.deepEqual(candidates(HERE), ["/work/.venv/bin/specedit", "/work/venv/bin/specedit", "/usr/bin/specedit", "/work/tools/specedit"]);
});

test("nothing inside of a workspace that is not trusted is started", () => {
  assert.deepEqual(candidates({ ...HERE, trusted: false }), ["/usr/bin/specedit"]);
  for (const setting of ["/work/x", "x", "${workspaceFolder}/x", "../work/x"]) {
    assert.deepEqual(candidates({ ...HERE, trusted: false, setting }), [], setting);
  }
  assert.deepEqual(candidates({ ...HERE, trusted: false, setting: "/opt/x" }), ["/opt/x"]);
});

test("the setting is the only place, and may begin with the home or the workspace", () => {
  assert.deepEqual(candidates({ ...HERE, setting: "~/x" }), ["/home/me/x"]);
  assert.deepEqual(candidates({ ...HERE, setting: "${workspaceFolder}/x" }), ["/work/x"]);
  assert.deepEqual(candidates({ ...HERE, setting: "x", folder: undefined }), []);
});

test("Windows has its own names", () => {
  const windows = { ...HERE, folder: "C:\\work", PATH: "C:\\tools;.", windows: true };
  assert.deepEqual(candidates(windows), ["C:\\work\\.venv\\Scripts\\specedit.exe", "C:\\work\\venv\\Scripts\\specedit.exe", "C:\\tools\\specedit.exe"]);
  assert.deepEqual(candidates({ ...windows, trusted: false, setting: "c:\\WORK\\x.exe" }), []);
});

test("settings become flags, defaults none", () => {
  assert.deepEqual(flags({ model: "", threads: 0, server: "auto" }), []);
  assert.deepEqual(flags({ model: "m", threads: 2, server: "off" }), ["--model", "m", "--threads", "2", "--server", "off"]);
});
