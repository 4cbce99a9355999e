/** Finds the specedit program. */

import * as path from "node:path";

export interface Surroundings {
  /** The setting `specedit.path`. */
  readonly setting: string;
  readonly folder: string | undefined;
  readonly trusted: boolean;
  readonly PATH: string;
  readonly home: string;
  readonly windows: boolean;
}

/**
 * Where the program may be, best first, as absolute paths. In a workspace that is not trusted, none
 * is inside of the workspace.
 */
export function candidates(where: Surroundings): string[] {
  const { setting, folder, trusted, windows } = where;
  const system = windows ? path.win32 : path.posix;
  const names = windows ? ["specedit.exe"] : ["specedit"];
  const inside = (place: string) => {
    if (folder === undefined) return false;
    const relative = system.relative(folder, place);
    return !relative.startsWith("..") && !system.isAbsolute(relative);
  };
  let places: string[];
  if (setting) {
    const home = setting.replace(/^~(?=[\\/])/, () => where.home);
    const named = home.replaceAll("${workspaceFolder}", () => folder ?? "");
    places = [system.isAbsolute(named) || folder === undefined ? named : system.join(folder, named)];
  } else {
    const bin = windows ? "Scripts" : "bin";
    const environments = folder === undefined ? [] : [".venv", "venv"].map((name) => system.join(folder, name, bin));
    const folders = where.PATH.split(system.delimiter).filter((name) => system.isAbsolute(name));
    places = [...environments, ...folders].flatMap((at) => names.map((name) => system.join(at, name)));
  }
  return places.filter((place) => system.isAbsolute(place) && (trusted || !inside(place)));
}

/** The flags of `specedit lsp` and `specedit serve` for the settings. */
export function flags(settings: { model: string; threads: number; server?: string }): string[] {
  const words: string[] = [];
  if (settings.model) words.push("--model", settings.model);
  if (settings.threads) words.push("--threads", String(settings.threads));
  if (settings.server !== undefined && settings.server !== "auto") words.push("--server", settings.server);
  return words;
}
