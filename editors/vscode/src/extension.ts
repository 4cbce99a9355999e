/** The extension: commands, settings, messages. The connection to `specedit lsp` is in `client`. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { Applied } from "./applied";
import type { Client, FileEdits, Proposal } from "./client";
import { askInstruction, Highlight, Running, selectedLines } from "./edit";
import { linesOf, narrowed } from "./hunks";
import { candidates, flags } from "./program";
import { doubtOf, Proposals, toRange } from "./proposal";
import { reportPage } from "./report";

const INSTALL = "uv tool install specedit";

/** The program is not there; `message` says where it was looked for. */
class Missing extends Error {}

export function activate(context: vscode.ExtensionContext): void {
  const extension = new Extension(context);
  context.subscriptions.push(extension);
}

class Extension {
  private readonly log = vscode.window.createOutputChannel("specedit", { log: true });
  private readonly applied = new Applied();
  private readonly highlight = new Highlight();
  private readonly running = new Running();
  private readonly proposals: Proposals;
  private readonly item = vscode.window.createStatusBarItem("specedit.model", vscode.StatusBarAlignment.Right, 90);
  private readonly clients = new Map<string, Promise<Client>>();
  private renamer: vscode.Disposable | undefined;
  private tokens = 0;
  /** The client that made the last proposal, which has its report. */
  private last: Client | undefined;

  constructor(private readonly context: vscode.ExtensionContext) {
    this.proposals = new Proposals(this.applied, context);
    const command = (name: string, run: (...args: never[]) => unknown) =>
      vscode.commands.registerCommand(`specedit.${name}`, (...args: never[]) => this.reported(() => run(...args)));
    context.subscriptions.push(
      command("edit", () => this.edit()),
      command("cancel", () => this.running.cancel()),
      command("acceptHunk", this.proposals.accept),
      command("rejectHunk", this.proposals.reject),
      command("nextHunk", this.proposals.next),
      command("acceptAll", this.proposals.acceptAll),
      command("rejectAll", this.proposals.rejectAll),
      command("sideBySide", this.proposals.sideBySide),
      command("renameEverywhere", () => this.renameEverywhere()),
      command("applyClipboard", () => this.applyClipboard()),
      command("undo", () => this.applied.undo()),
      command("warm", () => this.warm()),
      command("report", () => this.report()),
      command("doctor", () => this.doctor()),
      command("log", () => this.log.show()),
      vscode.languages.registerCodeActionsProvider({ scheme: "file" }, { provideCodeActions: lightBulb }, { providedCodeActionKinds: [vscode.CodeActionKind.RefactorRewrite] }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration("specedit")) return;
        this.configure();
        this.stopClients();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.stopClients()),
      this.log,
      this.highlight,
      this.running,
      this.item,
    );
    this.item.name = "specedit";
    this.item.command = "specedit.warm";
    this.showModel(null);
    this.item.show();
    this.configure();
  }

  dispose(): void {
    this.renamer?.dispose();
    this.stopClients();
  }

  // edit

  private async edit(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !this.editable(editor.document)) return;
    const { document } = editor;
    const lines = selectedLines(editor);
    this.highlight.show(editor, lines ? [{ lines, why: "" }] : []);
    try {
      this.client(document.uri).catch(() => {}); // it starts while the user types the instruction
      const part = lines ? (lines[0] === lines[1] ? `line ${lines[0]}` : `lines ${lines[0]}–${lines[1]}`) : vscode.workspace.asRelativePath(document.uri);
      const version = document.version;
      const instruction = await askInstruction(this.context.globalState, part);
      if (instruction === undefined) return;
      if (document.version !== version && lines) {
        void vscode.window.showWarningMessage("specedit: the text was changed meanwhile; nothing was edited.");
        return;
      }
      const proposal = await this.running.follow(
        document,
        (regions) => this.highlight.show(editor, regions),
        async (followers, token) => {
          this.last = await this.client(document.uri);
          return this.last.propose(document, instruction, lines, followers, token);
        },
      );
      this.highlight.clear();
      await this.present(proposal, editor.viewColumn);
    } finally {
      this.highlight.clear();
    }
  }

  private editable(document: vscode.TextDocument): boolean {
    if (this.running.busy) {
      void vscode.window.showInformationMessage("specedit: an edit is running; cancel it first (Escape).");
    } else if (document.uri.scheme === "untitled") {
      void vscode.window.showInformationMessage("specedit: save the file first; its name says the language.");
    } else if (document.uri.scheme !== "file") {
      void vscode.window.showInformationMessage("specedit: this editor does not show a file.");
    } else {
      return true;
    }
    return false;
  }

  /** Show a proposal: one file as an inline diff, several in the refactor preview. */
  private async present(proposal: Proposal, column: vscode.ViewColumn | undefined): Promise<void> {
    this.tokens = proposal.tokens;
    void this.refreshModel();
    for (const note of proposal.notes) this.log.info(note);
    if (proposal.status === "refused") return this.explain("the answer was refused", proposal.problems);
    if (proposal.status === "unchanged") return this.explain("the edit changes nothing", proposal.notes);
    const [first, ...others] = proposal.documentChanges;
    if (!first) return;
    if (others.length) {
      const doubt = doubtOf(proposal);
      await this.preview(proposal.documentChanges, `specedit: change from the clipboard${doubt && ` (${doubt})`}`);
      return;
    }
    const document = await this.unchanged(first);
    const sure = vscode.workspace.getConfiguration("specedit").get("confirm") === "unsure" && proposal.sure === true;
    if (sure) {
      await this.proposals.applyAll(document, first.edits);
      vscode.window.setStatusBarMessage("specedit: sure, so the change was applied; one undo reverts it.", 5000);
    } else {
      await this.proposals.show(document, first.edits, proposal, column);
    }
    if (proposal.notes.length) this.explain("note", proposal.notes);
  }

  /** The document of a file's edits, if its text is still the one that they were made from. */
  private async unchanged({ textDocument }: FileEdits): Promise<vscode.TextDocument> {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(textDocument.uri));
    if (textDocument.version !== null && textDocument.version !== document.version) {
      throw new Error("the text was changed meanwhile; nothing was edited.");
    }
    return document;
  }

  private explain(what: string, reasons: readonly string[]): void {
    const [first, ...rest] = reasons;
    const more = rest.length ? ` (and ${rest.length} more, in the log)` : "";
    const text = `specedit: ${what}${first ? `: ${first}${more}` : "."}`;
    for (const reason of reasons) this.log.info(reason);
    void vscode.window.showWarningMessage(text, "Show Log").then((chosen) => {
      if (chosen) this.log.show();
    });
  }

  // rename, clipboard

  private async renameEverywhere(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !this.editable(editor.document)) return;
    const { document, selection } = editor;
    const range = document.getWordRangeAtPosition(selection.active);
    if (!range) {
      void vscode.window.showInformationMessage("specedit: there is no identifier at the cursor.");
      return;
    }
    const old = document.getText(range);
    this.client(document.uri).catch(() => {});
    const name = await vscode.window.showInputBox({ title: `specedit: rename ${old} everywhere`, value: old, prompt: "The new name; a preview follows" });
    if (!name || name === old) return;
    const changes = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: `specedit: renaming ${old}` }, async () =>
      (await this.client(document.uri)).rename(document, range.start, name),
    );
    if (!changes.length) {
      void vscode.window.showInformationMessage(`specedit: ${old} has no place to rename.`);
      return;
    }
    await this.preview(changes, `specedit: rename ${old} to ${name}`);
  }

  /** Apply edits of several files after VS Code's refactor preview. */
  private async preview(changes: readonly FileEdits[], label: string): Promise<void> {
    await this.applied.apply(await this.workspaceEdit(changes, label));
  }

  /** The edits; with a label, VS Code shows them under it, all ticked, before it applies them. */
  private async workspaceEdit(changes: readonly FileEdits[], label = ""): Promise<vscode.WorkspaceEdit> {
    const result = new vscode.WorkspaceEdit();
    for (const change of changes) {
      const document = await this.unchanged(change);
      const lines = linesOf(document.getText());
      const edits = narrowed(lines, change.edits).map(({ range, newText }): [vscode.TextEdit, vscode.WorkspaceEditEntryMetadata | undefined] => [
        vscode.TextEdit.replace(toRange(range), newText),
        label ? { needsConfirmation: false, label } : undefined,
      ]);
      if (label && !result.size) {
        // The preview comes only with an edit that needs confirmation, which it does not tick. This
        // one inserts nothing.
        const empty = lines.findIndex((line) => !line.trim());
        const place = new vscode.Position(empty < 0 ? document.lineCount : empty, 0);
        const metadata = { needsConfirmation: true, label: "specedit: inserts nothing; VS Code shows the preview because of it", iconPath: new vscode.ThemeIcon("info") };
        edits.push([vscode.TextEdit.insert(place, ""), metadata]);
      }
      result.set(document.uri, edits);
    }
    return result;
  }

  private async applyClipboard(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = editor?.document.uri.scheme === "file" ? editor.document : undefined;
    if (editor && document && !this.editable(document)) return;
    const change = await vscode.env.clipboard.readText();
    if (!change.trim()) {
      void vscode.window.showInformationMessage("specedit: the clipboard has no text.");
      return;
    }
    const proposal = await this.running.follow(document, () => {}, async (followers, token) => {
      this.last = await this.client(document?.uri);
      return this.last.apply(change, document, followers, token);
    });
    await this.present(proposal, editor?.viewColumn);
  }

  // the warm server, report, doctor

  private async warm(): Promise<void> {
    const program = this.program(this.folder(undefined));
    const status = await (await this.client(undefined)).status();
    this.showModel(status);
    if (status) {
      const chosen = await vscode.window.showInformationMessage(`specedit: ${status.model.name} is in memory (${memory(status.memory_bytes)}).`, "Stop the Server");
      if (!chosen) return;
      await this.ran(program, ["serve", "stop"]);
      return this.showModel(null);
    }
    const progress = { location: vscode.ProgressLocation.Notification, title: "specedit: loading the model" };
    await vscode.window.withProgress(progress, () => this.ran(program, ["serve", "--background", "--socket-only", ...flags(this.settings())]));
    await this.refreshModel();
  }

  private async refreshModel(): Promise<void> {
    const client = await this.client(undefined).catch(() => undefined);
    this.showModel((await client?.status().catch(() => null)) ?? null);
  }

  private showModel(status: { model: { name: string }; memory_bytes: number } | null): void {
    const tokens = this.tokens ? ` · ${this.tokens} tokens` : "";
    this.item.text = status ? `$(flame) ${status.model.name} · ${memory(status.memory_bytes)}${tokens}` : `specedit${tokens}`;
    this.item.tooltip = status ? "specedit keeps this model in memory. Click to stop the server." : "specedit: click to keep the model in memory, so that edits start at once.";
  }

  private async report(): Promise<void> {
    if (!this.last) {
      void vscode.window.showInformationMessage("specedit: there is no report yet; edit something first.");
      return;
    }
    const panel = reportPage(await this.last.report());
    this.context.subscriptions.push(panel);
  }

  private async doctor(): Promise<void> {
    const folder = this.folder(undefined);
    this.log.show();
    await this.ran(this.program(folder), ["doctor"], folder).catch(() => {});
  }

  private ran(program: string, words: readonly string[], cwd = this.folder(undefined)): Promise<void> {
    return new Promise((resolve, reject) => {
      execFile(program, words, { cwd, env: { ...process.env, NO_COLOR: "1" } }, (problem, out, err) => {
        if (out + err) this.log.info(`specedit ${words.join(" ")}\n${out}${err}`);
        if (problem) reject(new Error(err.trim().split("\n").slice(0, 2).join(" ") || problem.message));
        else resolve();
      });
    });
  }

  // the program and its clients

  private settings() {
    const settings = vscode.workspace.getConfiguration("specedit");
    return { model: settings.get("model", ""), threads: settings.get("threads", 0), server: settings.get("server", "auto") };
  }

  private folder(uri: vscode.Uri | undefined): string {
    const own = uri && vscode.workspace.getWorkspaceFolder(uri);
    const first = own ?? vscode.workspace.workspaceFolders?.[0];
    return first?.uri.scheme === "file" ? first.uri.fsPath : uri?.scheme === "file" ? vscode.Uri.joinPath(uri, "..").fsPath : homedir();
  }

  private program(folder: string): string {
    const setting = vscode.workspace.getConfiguration("specedit").get("path", "");
    const where = {
      setting,
      folder: vscode.workspace.workspaceFolders ? folder : undefined,
      trusted: vscode.workspace.isTrusted,
      PATH: process.env.PATH ?? "",
      home: homedir(),
      windows: process.platform === "win32",
    };
    const found = candidates(where).find((place) => existsSync(place));
    if (found === undefined) throw new Missing(setting ? `The setting specedit.path names ${setting}, which is not there.` : "specedit is not installed.");
    return found;
  }

  private client(uri: vscode.Uri | undefined): Promise<Client> {
    const folder = this.folder(uri);
    const known = this.clients.get(folder);
    const started = (async () => {
      const client = await known?.catch(() => undefined);
      if (client?.alive) return client;
      const { Client } = await import("./client");
      return Client.start(this.program(folder), flags(this.settings()), folder, this.log);
    })();
    this.clients.set(folder, started);
    return started;
  }

  private stopClients(): void {
    const clients = [...this.clients.values()];
    this.clients.clear();
    for (const client of clients) void client.then((started) => started.stop()).catch(() => {});
  }

  private configure(): void {
    this.renamer?.dispose();
    this.renamer = undefined;
    if (vscode.workspace.getConfiguration("specedit").get("rename") !== "specedit") return;
    this.renamer = vscode.languages.registerRenameProvider({ scheme: "file" }, {
      provideRenameEdits: async (document, position, name, token) => {
        const changes = await (await this.client(document.uri)).rename(document, position, name, token);
        return this.workspaceEdit(changes, changes.length > 1 ? `specedit: rename to ${name}` : "");
      },
    });
  }

  /** Run a command; a problem becomes one message that says what to do. */
  private async reported(run: () => unknown): Promise<void> {
    try {
      await run();
    } catch (problem) {
      const { name, message } = problem as Error;
      if (name === "Cancelled") {
        const why = this.running.dropped || "the edit was cancelled; nothing was changed.";
        if (this.running.dropped) void vscode.window.showWarningMessage(`specedit: ${why}`);
        else vscode.window.setStatusBarMessage(`specedit: ${why}`, 5000);
      } else if (problem instanceof Missing) {
        await this.sayMissing(message);
      } else {
        const text = `specedit: ${message}`;
        this.log.error(message);
        const buttons = name === "Unavailable" ? ["Run doctor", "Show Log"] : ["Show Log"];
        const chosen = await vscode.window.showErrorMessage(text, ...buttons);
        if (chosen === "Run doctor") await this.doctor();
        else if (chosen) this.log.show();
      }
    }
  }

  private async sayMissing(what: string): Promise<void> {
    const trust = vscode.workspace.isTrusted ? "" : " In this workspace, which you do not trust, its own environment is not used.";
    const text = `${what} Install it with \`${INSTALL}\` or \`pip install specedit\`, or name the program in the settings.${trust}`;
    const chosen = await vscode.window.showErrorMessage(text, "Copy the Command", "Open Settings");
    if (chosen === "Copy the Command") await vscode.env.clipboard.writeText(INSTALL);
    else if (chosen) await vscode.commands.executeCommand("workbench.action.openSettings", "specedit.path");
  }
}

function memory(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

function lightBulb(document: vscode.TextDocument, range: vscode.Range | vscode.Selection): vscode.CodeAction[] {
  if (range.isEmpty || document.uri.scheme !== "file") return [];
  const action = new vscode.CodeAction("Edit with instruction… (specedit)", vscode.CodeActionKind.RefactorRewrite);
  action.command = { command: "specedit.edit", title: action.title };
  return [action];
}
