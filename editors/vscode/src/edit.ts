/** "Edit with instruction": asks for the instruction, shows what may change, and follows the edit. */

import * as vscode from "vscode";
import type { Followers, Region } from "./client";
import { remembered } from "./history";

const HISTORY = "instructions";

export class Highlight {
  private readonly style = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("specedit.regionBackground"),
    borderColor: new vscode.ThemeColor("specedit.regionBorder"),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    overviewRulerColor: new vscode.ThemeColor("specedit.regionBorder"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private editor: vscode.TextEditor | undefined;

  /** Mark the lines that may change; none: all of them. */
  show(editor: vscode.TextEditor, regions: readonly Pick<Region, "lines" | "why">[]): void {
    this.editor = editor;
    const all = [{ lines: [1, editor.document.lineCount] as const, why: "" }];
    const marks = (regions.length ? regions : all).map(({ lines: [first, last], why }) => ({
      range: new vscode.Range(first - 1, 0, last - 1, 0),
      hoverMessage: why ? `specedit may change this: ${why}` : "specedit may change this",
    }));
    editor.setDecorations(this.style, marks);
  }

  clear(): void {
    this.editor?.setDecorations(this.style, []);
    this.editor = undefined;
  }

  dispose(): void {
    this.style.dispose();
  }
}

/** The selected lines, from 1, both ends in; undefined where nothing is selected. */
export function selectedLines({ selection }: vscode.TextEditor): [number, number] | undefined {
  if (selection.isEmpty) return undefined;
  const last = selection.end.character === 0 ? selection.end.line - 1 : selection.end.line;
  return [selection.start.line + 1, Math.max(selection.start.line, last) + 1];
}

/** Ask for an instruction; earlier ones are listed below what is typed. */
export function askInstruction(memory: vscode.Memento, part: string): Promise<string | undefined> {
  const history = memory.get<string[]>(HISTORY, []);
  const box = vscode.window.createQuickPick();
  box.title = `specedit: edit ${part}`;
  box.placeholder = "What to do, for example: Add a `timeout` parameter";
  const list = () => {
    const typed = box.value.trim();
    const earlier = history.filter((one) => one !== typed).map((label) => ({ label, iconPath: new vscode.ThemeIcon("history") }));
    box.items = typed ? [{ label: typed, iconPath: new vscode.ThemeIcon("sparkle"), alwaysShow: true }, ...earlier] : earlier;
  };
  list();
  return new Promise((resolve) => {
    box.onDidChangeValue(list);
    box.onDidAccept(() => {
      // The typed text, unless the user moved to an earlier instruction.
      const chosen = box.activeItems[0]?.label ?? box.value.trim();
      if (!chosen) return;
      void memory.update(HISTORY, remembered(history, chosen));
      resolve(chosen);
      box.hide();
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}

/** The progress of the edit that runs, in the status bar; one click cancels it. */
export class Running {
  private readonly item = vscode.window.createStatusBarItem("specedit.progress", vscode.StatusBarAlignment.Left, 100);
  private source: vscode.CancellationTokenSource | undefined;
  /** Why the edit was dropped, where it was not the user who cancelled it. */
  dropped = "";

  constructor() {
    this.item.name = "specedit: progress";
    this.item.command = "specedit.cancel";
    this.item.tooltip = "Cancel the edit (Escape)";
  }

  get busy(): boolean {
    return this.source !== undefined;
  }

  cancel(reason = ""): void {
    this.dropped = reason;
    this.source?.cancel();
  }

  /** Run an edit; a change of the document drops it. */
  async follow<T>(
    document: vscode.TextDocument | undefined,
    opened: (regions: readonly Region[]) => void,
    ask: (followers: Followers, token: vscode.CancellationToken) => Promise<T>,
  ): Promise<T> {
    const source = new vscode.CancellationTokenSource();
    this.source = source;
    this.dropped = "";
    this.report("starting");
    this.item.show();
    void vscode.commands.executeCommand("setContext", "specedit.running", true);
    const typing = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document && event.contentChanges.length) this.cancel("the text was changed meanwhile; the edit was dropped.");
    });
    try {
      return await ask({ report: (message) => this.report(message), regions: opened }, source.token);
    } finally {
      typing.dispose();
      this.item.hide();
      this.source = undefined;
      source.dispose();
      void vscode.commands.executeCommand("setContext", "specedit.running", false);
    }
  }

  private report(message: string): void {
    const [figures = "", line = ""] = message.split(" · ", 2);
    this.item.text = `$(sync~spin) specedit: ${figures.replaceAll("$(", "$ (")} $(close)`;
    this.item.tooltip = line ? `${line}\n\nClick to cancel (Escape)` : "Click to cancel (Escape)";
  }

  dispose(): void {
    this.item.dispose();
    this.source?.dispose();
  }
}
