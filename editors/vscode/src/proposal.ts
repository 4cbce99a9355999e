/**
 * A proposed change of one document, shown as an inline diff beside the document in the same group of
 * editors: a text that cannot be edited, with both texts of each part. Nothing is in the document
 * before a part is accepted.
 */

import * as vscode from "vscode";
import type { Applied } from "./applied";
import type { Proposal } from "./client";
import { type Choice, type Edit, type Hunk, editsFor, hunksOf, linesOf, type Row, rowsOf, textWith } from "./hunks";

export const SCHEME = "specedit";
const INLINE = "inline";
const RESULT = "result";

interface Shown {
  readonly uri: vscode.Uri;
  readonly lines: readonly string[];
  readonly hunks: readonly Hunk[];
  /** What the document must hold; another text means that somebody else changed it. */
  expected: string;
  rows: readonly Row[];
  readonly column: vscode.ViewColumn | undefined;
  readonly title: string;
  readonly doubt: string;
  /** Set while a part is applied: then the change of the document is ours. */
  applying: boolean;
}

export class Proposals implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly lenses = new vscode.EventEmitter<void>();
  private readonly styles = styles();
  private shown: Shown | undefined;
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lenses.event;

  constructor(
    private readonly applied: Applied,
    context: vscode.ExtensionContext,
  ) {
    context.subscriptions.push(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.documentChanged(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        if (this.shown && closed.some((tab) => isInline(tab)) && !inlineTabs().length) this.finish();
      }),
      this.changed,
      this.lenses,
      ...Object.values(this.styles),
    );
  }

  /** Show a proposal of a document whose text is what it was made from. */
  async show(document: vscode.TextDocument, edits: readonly Edit[], proposal: Proposal, column: vscode.ViewColumn | undefined): Promise<void> {
    await this.close();
    const expected = document.getText();
    const lines = linesOf(expected);
    const hunks = hunksOf(lines, edits);
    const title = titleOf(proposal, hunks.length);
    const doubt = doubtOf(proposal);
    this.shown = { uri: document.uri, lines, hunks, expected, rows: rowsOf(lines, hunks), column, title, doubt, applying: false };
    void vscode.commands.executeCommand("setContext", "specedit.proposal", true);
    const first = this.rowOf(0);
    const view = await vscode.workspace.openTextDocument(inlineUri(document.uri, INLINE));
    this.changed.fire(view.uri);
    await vscode.languages.setTextDocumentLanguage(view, document.languageId);
    const place = new vscode.Range(first, 0, first, 0);
    const editor = await vscode.window.showTextDocument(view, { viewColumn: column ?? vscode.ViewColumn.Active, preview: false, selection: place });
    editor.revealRange(place, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.decorate();
  }

  /** Apply all parts without showing them. */
  async applyAll(document: vscode.TextDocument, edits: readonly Edit[]): Promise<boolean> {
    return this.applied.apply(workspaceEdit(document.uri, edits));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    if (!this.shown) return "";
    if (uri.query === RESULT) return textWith(this.shown.lines, this.shown.hunks, "accepted", "open");
    return this.shown.rows.map(({ text }) => text).join("\n");
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!this.shown || document.uri.query !== INLINE) return [];
    const { hunks, title, doubt } = this.shown;
    const open = hunks.flatMap(({ choice }, number) => (choice === "open" ? [number] : []));
    const lens = (row: number, title: string, command: string, ...args: unknown[]) =>
      new vscode.CodeLens(new vscode.Range(row, 0, row, 0), { title, command, arguments: args });
    const parts = open.flatMap((number, index) => {
      const row = this.rowOf(number);
      const part = `${index + 1} of ${open.length}`;
      return [
        ...(doubt ? [lens(row, `$(warning) ${doubt}`, "")] : []),
        lens(row, `$(check) Accept ${part} (y)`, "specedit.acceptHunk", number),
        lens(row, "$(close) Reject (n)", "specedit.rejectHunk", number),
        ...(open.length > 1 ? [lens(row, "$(arrow-down) Next (Tab)", "specedit.nextHunk", number)] : []),
      ];
    });
    // A part in the first row shares its line with these, which may be cut off at the window's edge.
    return [
      ...parts,
      lens(0, "$(check-all) Accept All (Enter)", "specedit.acceptAll"),
      lens(0, "$(close-all) Reject All (Esc)", "specedit.rejectAll"),
      lens(0, "$(diff) Side by Side (c)", "specedit.sideBySide"),
      lens(0, title, ""),
    ];
  }

  accept = (number?: number): Promise<void> => this.choose("accepted", [number ?? this.current()]);
  reject = (number?: number): Promise<void> => this.choose("rejected", [number ?? this.current()]);
  acceptAll = (): Promise<void> => this.choose("accepted", this.open());
  rejectAll = (): Promise<void> => this.choose("rejected", this.open());

  /** Move to the part after a part, or after the cursor. */
  next = (number?: number): void => {
    const open = this.open();
    const at = number ?? this.current();
    const following = open.find((other) => other > at) ?? open[0];
    if (following !== undefined) this.reveal(following);
  };

  sideBySide = async (): Promise<void> => {
    if (!this.shown) return;
    const right = inlineUri(this.shown.uri, RESULT);
    this.changed.fire(right);
    const name = vscode.workspace.asRelativePath(this.shown.uri);
    await vscode.commands.executeCommand("vscode.diff", this.shown.uri, right, `${name} ↔ specedit`, { preview: true });
  };

  private open(): number[] {
    return this.shown?.hunks.flatMap(({ choice }, number) => (choice === "open" ? [number] : [])) ?? [];
  }

  private rowOf(hunk: number): number {
    return Math.max(0, this.shown?.rows.findIndex((row) => row.hunk === hunk) ?? 0);
  }

  private editor(): vscode.TextEditor | undefined {
    return vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === SCHEME && document.uri.query === INLINE);
  }

  /** The open part at the cursor, or the next one after it, or the first. */
  private current(): number {
    const line = this.editor()?.selection.active.line ?? 0;
    const open = this.open();
    const rows = this.shown?.rows ?? [];
    return rows[line]?.hunk ?? open.find((number) => this.rowOf(number) >= line) ?? open[0] ?? -1;
  }

  private async choose(choice: Choice, numbers: readonly number[]): Promise<void> {
    const shown = this.shown;
    if (!shown || shown.applying) return;
    const chosen = numbers.filter((number) => shown.hunks[number]?.choice === "open");
    if (!chosen.length) return;
    if (choice === "accepted") {
      const document = await vscode.workspace.openTextDocument(shown.uri);
      if (document.getText() !== shown.expected) return this.drop();
      const edits = editsFor(shown.lines, shown.hunks, chosen);
      shown.applying = true;
      try {
        if (!(await this.applied.apply(workspaceEdit(shown.uri, edits)))) return this.drop();
      } finally {
        shown.applying = false;
      }
      shown.expected = document.getText();
    }
    for (const number of chosen) {
      const hunk = shown.hunks[number];
      if (hunk) hunk.choice = choice;
    }
    if (!this.open().length) return this.close();
    shown.rows = rowsOf(shown.lines, shown.hunks);
    const following = this.open().find((number) => number > Math.max(...chosen)) ?? this.open()[0] ?? 0;
    this.changed.fire(inlineUri(shown.uri, INLINE));
    this.changed.fire(inlineUri(shown.uri, RESULT));
    this.lenses.fire();
    this.decorate();
    this.reveal(following);
  }

  private reveal(number: number): void {
    const editor = this.editor();
    if (!editor) return;
    const row = this.rowOf(number);
    editor.selection = new vscode.Selection(row, 0, row, 0);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private documentChanged(document: vscode.TextDocument): void {
    const shown = this.shown;
    if (!shown) return;
    if (document.uri.scheme === SCHEME) return this.decorate();
    if (document.uri.toString() !== shown.uri.toString() || shown.applying) return;
    if (document.getText() !== shown.expected) void this.drop();
  }

  private drop(): Promise<void> {
    const name = this.shown ? vscode.workspace.asRelativePath(this.shown.uri) : "";
    void vscode.window.showWarningMessage(`specedit: ${name} was changed meanwhile; the proposal was dropped.`);
    return this.close();
  }

  /** Close the view and show the document where the change is. */
  private async close(): Promise<void> {
    const shown = this.shown;
    if (!shown) return;
    const accepted = shown.hunks.filter(({ choice }) => choice === "accepted");
    const active = vscode.window.activeTextEditor?.document.uri.scheme === SCHEME;
    this.finish();
    const result = vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME);
    await vscode.window.tabGroups.close([...inlineTabs(), ...result]);
    if (!active) return;
    const line = accepted[0]?.first ?? shown.hunks[0]?.first ?? 0;
    const options = { preview: false, ...(shown.column === undefined ? {} : { viewColumn: shown.column }) };
    const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(shown.uri), options);
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private finish(): void {
    this.shown = undefined;
    void vscode.commands.executeCommand("setContext", "specedit.proposal", false);
  }

  private decorate(): void {
    const editor = this.editor();
    if (!editor || !this.shown) return;
    const { rows } = this.shown;
    // The view gets its new text a moment after the rows; that change decorates it again.
    if (editor.document.lineCount !== rows.length) return;
    const ranges = (kind: Row["kind"]) => rows.flatMap((row, at) => (row.kind === kind ? [new vscode.Range(at, 0, at, 0)] : []));
    const spans = (kind: Row["kind"]) => rows.flatMap(({ kind: own, span }, at) => (own === kind && span ? [new vscode.Range(at, span[0], at, span[1])] : []));
    editor.setDecorations(this.styles.same, ranges("same"));
    editor.setDecorations(this.styles.removed, ranges("removed"));
    editor.setDecorations(this.styles.added, ranges("added"));
    editor.setDecorations(this.styles.removedText, spans("removed"));
    editor.setDecorations(this.styles.addedText, spans("added"));
  }
}

/** What the title of a proposal says: how many parts, and what it cost. */
function titleOf(proposal: Proposal, parts: number): string {
  const words = [parts === 1 ? "1 part" : `${parts} parts`];
  if (proposal.passes) words.push(`${proposal.tokens} tokens in ${proposal.passes} passes`);
  return words.join(" · ");
}

/** Why the user should look closely at a proposal; "" where there is no reason. */
export function doubtOf({ sure, confidence }: Proposal): string {
  if (sure !== false) return "";
  return typeof confidence === "number" ? `unsure: right with a probability of ${Math.round(confidence * 100)} %` : "unsure";
}

function workspaceEdit(uri: vscode.Uri, edits: readonly Edit[]): vscode.WorkspaceEdit {
  const result = new vscode.WorkspaceEdit();
  result.set(uri, edits.map(({ range, newText }) => vscode.TextEdit.replace(toRange(range), newText)));
  return result;
}

export function toRange({ start, end }: Edit["range"]): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

function inlineUri(uri: vscode.Uri, query: string): vscode.Uri {
  return uri.with({ scheme: SCHEME, authority: "", path: `${uri.path} (proposed)`, query });
}

function isInline({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputText && input.uri.scheme === SCHEME;
}

function inlineTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isInline));
}

function styles() {
  const sign = (contentText: string) => ({ contentText, width: "1.2em", color: new vscode.ThemeColor("editorLineNumber.foreground") });
  const line = (kind: "removed" | "inserted", ruler: string) =>
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor(`diffEditor.${kind}LineBackground`),
      overviewRulerColor: new vscode.ThemeColor(ruler),
      overviewRulerLane: vscode.OverviewRulerLane.Full,
      before: sign(kind === "removed" ? "−" : "+"),
    });
  const text = (kind: "removed" | "inserted") =>
    vscode.window.createTextEditorDecorationType({ backgroundColor: new vscode.ThemeColor(`diffEditor.${kind}TextBackground`) });
  return {
    same: vscode.window.createTextEditorDecorationType({ before: sign("\u00a0") }),
    removed: line("removed", "editorOverviewRuler.deletedForeground"),
    added: line("inserted", "editorOverviewRuler.addedForeground"),
    removedText: text("removed"),
    addedText: text("inserted"),
  };
}
