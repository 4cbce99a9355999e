// Bundle the extension into dist/: extension.js is loaded when the editor starts, client.js with the
// first edit. With --tests, bundle the unit tests into dist-tests/.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };
if (process.argv.includes("--tests")) {
  const tests = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: tests.map((name) => `tests/${name}`), outdir: "dist-tests" });
} else {
  const shipped = { ...common, outdir: "dist", minify: true, supported: { "dynamic-import": false } };
  await build({ ...shipped, entryPoints: ["src/extension.ts"], external: ["vscode", "./client"] });
  // The language client has a module "./client" of its own, which belongs into this bundle.
  await build({ ...shipped, entryPoints: ["src/client.ts"], external: ["vscode"] });
}
