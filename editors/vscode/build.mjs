// Bundle the extension into dist/: extension.js is loaded when the editor starts, client.js with the
// first edit. With --tests, bundle the unit tests into dist-tests/.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };
if (process.argv.includes("--tests")) {
  const tests = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: tests.map((name) => `tests/${name}`), outdir: "dist-tests" });
} else {
  const entryPoints = ["src/extension.ts", "src/client.ts"];
  await build({ ...common, entryPoints, outdir: "dist", minify: true, external: ["vscode", "./client"],
    supported: { "dynamic-import": false } });
}
