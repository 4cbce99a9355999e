import assert from "node:assert/strict";
import { test } from "node:test";
import { type Edit, differing, editsFor, hunksOf, linesOf, narrowed, rowsOf, textWith } from "../src/hunks";

const edit = (start: number, end: number, newText: string, character = 0): Edit => ({
  range: { start: { line: start, character: 0 }, end: { line: end, character } },
  newText,
});

/** A text after edits, as an editor applies them. */
function edited(text: string, edits: readonly Edit[]): string {
  const starts: number[] = [0];
  for (const line of linesOf(text).slice(0, -1)) starts.push((starts.at(-1) ?? 0) + line.length);
  const offset = ({ line, character }: Edit["range"]["start"]) => (starts[line] ?? text.length) + character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce((whole, { range, newText }) => whole.slice(0, offset(range.start)) + newText + whole.slice(offset(range.end)), text);
}

const CASES: Record<string, [string, Edit[]]> = {
  "a replaced and a removed line": ["a\nb\nc\n", [edit(0, 1, "x\n"), edit(2, 3, "")]],
  "an insertion at the start": ["a\n", [edit(0, 0, "x\ny\n")]],
  "an insertion at the end": ["a\n", [edit(1, 1, "x\n")]],
  "a last line without an end": ["a\nb", [edit(1, 1, "x\ny", 1)]],
  "an end that is added to the last line": ["a\nb", [edit(1, 1, "b\n", 1)]],
  "CRLF": ["a\r\nb\r\nc\r\n", [edit(1, 2, "x\r\ny\r\n")]],
  "a part of a word": ["a\r\nfirst_name(a)\r\nb", [edit(1, 2, "full_name(a)\r\n")]],
  "everything removed": ["a\nb", [edit(0, 1, "", 1)]],
};

for (const [name, [text, edits]] of Object.entries(CASES)) {
  test(`all parts of a change make its text: ${name}`, () => {
    const lines = linesOf(text);
    const hunks = hunksOf(lines, edits);
    assert.equal(textWith(lines, hunks, "open"), edited(text, edits));
    assert.equal(edited(text, narrowed(lines, edits)), edited(text, edits));
    assert.equal(textWith(lines, hunks, "accepted"), text);
  });

  test(`parts that are accepted one by one, in any order, make the same text: ${name}`, () => {
    for (const order of [edits.map((_, number) => number), edits.map((_, number) => number).reverse()]) {
      const lines = linesOf(text);
      const hunks = hunksOf(lines, edits);
      let now = text;
      for (const number of order) {
        now = edited(now, editsFor(lines, hunks, [number]));
        const hunk = hunks[number];
        assert.ok(hunk);
        hunk.choice = "accepted";
        assert.equal(textWith(lines, hunks, "accepted"), now);
      }
      assert.equal(now, edited(text, edits));
    }
  });
}

test("a rejected part stays as it was", () => {
  const lines = linesOf("a\nb\nc\n");
  const hunks = hunksOf(lines, [edit(0, 1, "x\nx\n"), edit(2, 3, "y\n")]);
  assert.ok(hunks[0] && hunks[1]);
  hunks[0].choice = "rejected";
  assert.deepEqual(editsFor(lines, hunks, [0, 1]), [edit(2, 3, "y\n")]);
  assert.deepEqual(rowsOf(lines, hunks).map(({ kind, text }) => `${kind} ${text}`), ["same a", "same b", "removed c", "added y", "same "]);
});

test("the rows of an inline diff show both texts and what differs in them", () => {
  const lines = linesOf("def f():\n    return old\n");
  const rows = rowsOf(lines, hunksOf(lines, [edit(1, 2, "    return new\n")]));
  assert.deepEqual(rows[1], { text: "    return old", kind: "removed", hunk: 0, span: [11, 14] });
  assert.deepEqual(rows[2], { text: "    return new", kind: "added", hunk: 0, span: [11, 14] });
});

test("a difference never splits a character of two units", () => {
  assert.deepEqual(differing("x🙂y", "x🙃y"), { before: [1, 3], after: [1, 3] });
  const [low, other] = ["\ud83d\ude42", "\ud83e\ude42"];
  assert.deepEqual(differing(low, other), { before: [0, 2], after: [0, 2] });
  assert.deepEqual(differing("aa", "a"), { before: [1, 2], after: [1, 1] });
});

test("narrow edits name the places in their lines", () => {
  const lines = linesOf("x = old\ny = 1\nz = old\n");
  assert.deepEqual(narrowed(lines, [edit(0, 3, "x = new\ny = 1\nz = new\n")]), [
    { range: { start: { line: 0, character: 4 }, end: { line: 0, character: 7 } }, newText: "new" },
    { range: { start: { line: 2, character: 4 }, end: { line: 2, character: 7 } }, newText: "new" },
  ]);
});

test("a narrowed edit replaces whole words", () => {
  assert.deepEqual(narrowed(linesOf("print(user.first_näme + 1)\n"), [edit(0, 1, "print(user.fall_näme + 1)\n")]), [
    { range: { start: { line: 0, character: 11 }, end: { line: 0, character: 21 } }, newText: "fall_näme" },
  ]);
});
