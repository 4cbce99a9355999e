/**
 * The parts of a proposed change, as pure functions over lines.
 *
 * Lines have their ends; the last line has none and may be empty, so that there is always one line
 * more than there are line ends.
 */

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Edit {
  readonly range: { readonly start: Position; readonly end: Position };
  readonly newText: string;
}

export type Choice = "open" | "accepted" | "rejected";

export interface Hunk {
  /** The lines of the text before the change that it replaces: `first` up to, not with, `end`. */
  readonly first: number;
  readonly end: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
  choice: Choice;
}

export interface Row {
  readonly text: string;
  readonly kind: "same" | "removed" | "added";
  readonly hunk?: number;
  /** The columns that differ from the row's counterpart. */
  readonly span?: readonly [number, number];
}

export function linesOf(text: string): string[] {
  const lines = text.match(/[^\r\n]*(?:\r\n?|\n)/g) ?? [];
  const length = lines.reduce((sum, line) => sum + line.length, 0);
  return [...lines, text.slice(length)];
}

/** The hunks of edits that replace whole lines. */
export function hunksOf(lines: readonly string[], edits: readonly Edit[]): Hunk[] {
  const hunks = edits.map(({ range, newText }): Hunk => {
    const end = range.end.character > 0 ? range.end.line + 1 : range.end.line;
    const after = linesOf(newText);
    if (end < lines.length && after.at(-1) === "") after.pop();
    const before = lines.slice(range.start.line, end);
    return { first: range.start.line, end, before, after, choice: "open" };
  });
  return hunks.sort((a, b) => a.first - b.first);
}

/** The text with the hunks of these choices changed. */
export function textWith(lines: readonly string[], hunks: readonly Hunk[], ...choices: Choice[]): string {
  let text = "";
  let at = 0;
  for (const hunk of hunks) {
    if (!choices.includes(hunk.choice)) continue;
    text += lines.slice(at, hunk.first).join("") + hunk.after.join("");
    at = hunk.end;
  }
  return text + lines.slice(at).join("");
}

/** The edit that makes the open hunks of `numbers` in a text in which others are accepted. */
export function editsFor(lines: readonly string[], hunks: readonly Hunk[], numbers: readonly number[]): Edit[] {
  let shift = 0;
  const edits: Edit[] = [];
  hunks.forEach((hunk, number) => {
    if (hunk.choice === "accepted") {
      shift += hunk.after.length - hunk.before.length;
    } else if (hunk.choice === "open" && numbers.includes(number)) {
      const start = { line: hunk.first + shift, character: 0 };
      const last = lines.length - 1;
      const end =
        hunk.end > last
          ? { line: last + shift, character: (lines[last] ?? "").length }
          : { line: hunk.end + shift, character: 0 };
      edits.push({ range: { start, end }, newText: hunk.after.join("") });
    }
  });
  return edits;
}

/** The rows of an inline diff: accepted hunks as they are now, open ones with both texts. */
export function rowsOf(lines: readonly string[], hunks: readonly Hunk[]): Row[] {
  const rows: Row[] = [];
  let at = 0;
  const same = (some: readonly string[]) => {
    for (const line of some) rows.push({ text: content(line), kind: "same" });
  };
  hunks.forEach((hunk, number) => {
    same(lines.slice(at, hunk.first));
    at = hunk.end;
    if (hunk.choice === "accepted") return same(hunk.after);
    if (hunk.choice === "rejected") return same(hunk.before);
    const pairs = hunk.before.length === hunk.after.length;
    const spans = pairs ? hunk.before.map((line, index) => differing(content(line), content(hunk.after[index] ?? ""))) : [];
    hunk.before.forEach((line, index) => rows.push(row(line, "removed", number, spans[index]?.before)));
    hunk.after.forEach((line, index) => rows.push(row(line, "added", number, spans[index]?.after)));
  });
  same(lines.slice(at));
  return rows;
}

function row(line: string, kind: "removed" | "added", hunk: number, span?: readonly [number, number]): Row {
  const text = content(line);
  return span && span[1] > span[0] && span[1] - span[0] < text.trim().length ? { text, kind, hunk, span } : { text, kind, hunk };
}

function content(line: string): string {
  return line.replace(/[\r\n]+$/, "");
}

/** The columns in which two lines differ; never half a character. */
export function differing(before: string, after: string): { before: readonly [number, number]; after: readonly [number, number] } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  if (head > 0 && isHigh(before.charCodeAt(head - 1))) head--;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  if (tail > 0 && isLow(before.charCodeAt(before.length - tail))) tail--;
  return { before: [head, before.length - tail], after: [head, after.length - tail] };
}

const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_$]/u.test(character);
const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

/** The same edits, each no larger than the words that differ in a line: what a preview of places shows. */
export function narrowed(lines: readonly string[], edits: readonly Edit[]): Edit[] {
  return hunksOf(lines, edits).flatMap((hunk, number, hunks): Edit[] => {
    if (hunk.before.length !== hunk.after.length) return editsFor(lines, [{ ...hunk, choice: "open" }], [0]);
    return hunk.before.flatMap((line, index): Edit[] => {
      const text = hunks[number]?.after[index] ?? "";
      if (line === text) return [];
      const { before, after } = differing(line, text);
      const at = hunk.first + index;
      // A line end that changes belongs to the whole line.
      if (before[1] > content(line).length || after[1] > content(text).length) {
        const end = at + 1 < lines.length ? { line: at + 1, character: 0 } : { line: at, character: line.length };
        return [{ range: { start: { line: at, character: 0 }, end }, newText: text }];
      }
      let [start, end] = before;
      while (start > 0 && isWord(line[start - 1])) start--;
      while (isWord(line[end])) end++;
      const range = { start: { line: at, character: start }, end: { line: at, character: end } };
      return [{ range, newText: text.slice(after[0] + start - before[0], after[1] + end - before[1]) }];
    });
  });
}
