// Checks TypeScript files as often as it is asked: reads a line with a folder, answers one line.
// node check_types.mjs FOLDER_OF_THE_TYPESCRIPT_PACKAGE
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const ts = createRequire(join(process.argv[2], "x.js"))("typescript");
const options = {
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, strict: true, noEmit: true,
  moduleResolution: ts.ModuleResolutionKind.Bundler, skipLibCheck: true, types: [],
  jsx: ts.JsxEmit.Preserve, allowImportingTsExtensions: true,
};
const services = new Map(); // by folder

function serviceOf(folder) {
  if (!services.has(folder)) {
    const names = readdirSync(folder, { recursive: true }).map(String)
      .filter((name) => /\.tsx?$/.test(name) && !/(^|\/)(tests?|__tests__|node_modules)\/|\.test\./.test(name))
      .map((name) => join(folder, name));
    const host = {
      getCompilationSettings: () => options,
      getScriptFileNames: () => names,
      getScriptVersion: (name) => String(statSync(name, { throwIfNoEntry: false })?.mtimeNs ?? 0) +
        String(statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0),
      getScriptSnapshot: (name) => {
        try { return ts.ScriptSnapshot.fromString(readFileSync(name, "utf8")); } catch { return undefined; }
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
      fileExists: ts.sys.fileExists, readFile: ts.sys.readFile,
      readDirectory: ts.sys.readDirectory, directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    };
    services.set(folder, ts.createLanguageService(host, ts.createDocumentRegistry()));
  }
  return services.get(folder).getProgram();
}

// Messages without names: an error that was there before a rename may name something else after it.
const known = new Map();
for await (const folder of createInterface({ input: process.stdin })) {
  const program = serviceOf(folder);
  const found = ts.getPreEmitDiagnostics(program).map((one) => {
    const at = one.file ? one.file.getLineAndCharacterOfPosition(one.start).line + 1 : 0;
    return [`${one.file?.fileName ?? ""}:${at} TS${one.code}`, ts.flattenDiagnosticMessageText(one.messageText, " ")];
  });
  if (!known.has(folder)) known.set(folder, new Set(found.map(([key]) => key)));
  const more = found.filter(([key]) => !known.get(folder).has(key));
  console.log(more.slice(0, 5).map((one) => one.join(" ")).join("; ").replace(/\s+/g, " "));
}
