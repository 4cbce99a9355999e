/**
 * The connection to `specedit lsp`, loaded with the first edit.
 *
 * None of the language client's own features are registered: a document is sent with the request that
 * needs it, and never while the user types.
 */

import * as vscode from "vscode";
import {
  CancellationTokenSource,
  CloseAction,
  ErrorAction,
  LanguageClient,
  ResponseError,
  WorkDoneProgress,
} from "vscode-languageclient/node";
import type { Edit } from "./hunks";

export interface Region {
  readonly lines: readonly [number, number];
  readonly symbol: string;
  readonly why: string;
}

export interface FileEdits {
  readonly textDocument: { readonly uri: string; readonly version: number | null };
  readonly edits: readonly Edit[];
}

export interface Proposal {
  readonly status: "proposed" | "unchanged" | "refused";
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  readonly documentChanges: readonly FileEdits[];
  readonly passes: number;
  readonly tokens: number;
  readonly proposed: number;
  readonly accepted: number;
  readonly seconds: number;
  readonly model: string;
  readonly sure?: boolean | null;
  readonly confidence?: number | null;
}

export interface ServerStatus {
  readonly model: { readonly name: string };
  readonly memory_bytes: number;
}

export interface Followers {
  readonly report: (message: string) => void;
  readonly regions: (regions: readonly Region[]) => void;
}

/** The request ended because the user cancelled it. */
class Cancelled extends Error {
  override name = "Cancelled"; // this bundle's classes are unknown outside of it
}

/** The program ended, or its version lacks the request. */
class Unavailable extends Error {
  override name = "Unavailable";
}

const CANCELLED = -32800;
const METHOD_NOT_FOUND = -32601;

/** Whether the program ended; the promise is rejected then. */
class Ended {
  now = false;
  readonly promise: Promise<never>;
  private reject: (problem: Error) => void = () => {};

  constructor() {
    this.promise = new Promise((_, reject) => (this.reject = reject));
    this.promise.catch(() => {});
  }

  end(reason: string): void {
    this.now = true;
    this.reject(new Unavailable(reason));
  }
}

class Connection extends LanguageClient {
  override registerFeature(): void {}
}

export class Client {
  private constructor(
    private readonly connection: Connection,
    private readonly ended: Ended,
  ) {}

  static async start(program: string, words: readonly string[], cwd: string, log: vscode.LogOutputChannel): Promise<Client> {
    const ended = new Ended();
    const connection = new Connection(
      "specedit",
      "specedit",
      { command: program, args: ["lsp", ...words], options: { cwd } },
      {
        documentSelector: [],
        outputChannel: log,
        initializationFailedHandler: () => false,
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => {
            ended.end("`specedit lsp` ended unexpectedly; nothing was changed.");
            return { action: CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    try {
      await connection.start();
    } catch (problem) {
      void connection.dispose().catch(() => {});
      throw new Unavailable(`\`${program} lsp\` does not start: ${(problem as Error).message}`);
    }
    return new Client(connection, ended);
  }

  get alive(): boolean {
    return !this.ended.now;
  }

  async stop(): Promise<void> {
    this.ended.end("`specedit lsp` was stopped; nothing was changed.");
    await this.connection.dispose(2000).catch(() => {});
  }

  /** Ask for a change of a document, or of the lines (from 1, both ends in) of it. */
  propose(
    document: vscode.TextDocument,
    instruction: string,
    lines: readonly [number, number] | undefined,
    followers: Followers,
    token: vscode.CancellationToken,
  ): Promise<Proposal> {
    const params = { textDocument: { uri: document.uri.toString() }, instruction, lines: lines ?? null };
    return this.followed("specedit/propose", params, [document], followers, token);
  }

  /** Ask what a change in a snippet, SEARCH/REPLACE or diff makes of the files that it is for. */
  apply(change: string, document: vscode.TextDocument | undefined, followers: Followers, token: vscode.CancellationToken): Promise<Proposal> {
    const about = document ? { textDocument: { uri: document.uri.toString() } } : {};
    return this.followed("specedit/apply", { ...about, change }, opened(document), followers, token);
  }

  /** The places of a rename, in all files of the work tree. */
  async rename(document: vscode.TextDocument, position: vscode.Position, newName: string, token?: vscode.CancellationToken): Promise<readonly FileEdits[]> {
    const params = { textDocument: { uri: document.uri.toString() }, position, newName };
    const result = await this.request<{ documentChanges?: FileEdits[] } | null>("textDocument/rename", params, opened(document), token);
    return result?.documentChanges ?? [];
  }

  async report(): Promise<string> {
    return (await this.request<{ html: string }>("specedit/report", null, [])).html;
  }

  /** The warm server, if one runs. */
  status(): Promise<ServerStatus | null> {
    return this.request("specedit/status", null, []);
  }

  private async followed(method: string, params: object, documents: readonly vscode.TextDocument[], followers: Followers, token: vscode.CancellationToken): Promise<Proposal> {
    const workDoneToken = crypto.randomUUID();
    const progress = this.connection.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
      if (value.kind === "report" && value.message) followers.report(value.message);
    });
    const regions = this.connection.onNotification("specedit/regions", (sent: { token: string; regions: Region[] }) => {
      if (sent.token === workDoneToken) followers.regions(sent.regions);
    });
    try {
      return await this.request<Proposal>(method, { ...params, workDoneToken }, documents, token);
    } finally {
      progress.dispose();
      regions.dispose();
    }
  }

  private async request<T>(method: string, params: object | null, documents: readonly vscode.TextDocument[], token?: vscode.CancellationToken): Promise<T> {
    try {
      for (const document of documents) {
        const { languageId, version } = document;
        const item = { uri: document.uri.toString(), languageId, version, text: document.getText() };
        await this.connection.sendNotification("textDocument/didOpen", { textDocument: item });
      }
      return await Promise.race([this.ended.promise, this.connection.sendRequest<T>(method, params, token ?? new CancellationTokenSource().token)]);
    } catch (problem) {
      if (token?.isCancellationRequested || (problem instanceof ResponseError && problem.code === CANCELLED)) throw new Cancelled();
      if (this.ended.now) await this.ended.promise; // this reason says more
      if (problem instanceof ResponseError && problem.code === METHOD_NOT_FOUND) {
        const version = this.connection.initializeResult?.serverInfo?.version ?? "?";
        throw new Unavailable(`specedit ${version} is too old for this extension; update it.`);
      }
      throw problem;
    } finally {
      for (const document of documents) {
        const item = { uri: document.uri.toString() };
        if (this.alive) void this.connection.sendNotification("textDocument/didClose", { textDocument: item }).catch(() => {});
      }
    }
  }
}

/** The document, and all others whose text differs from the file on disk. */
function opened(document: vscode.TextDocument | undefined): vscode.TextDocument[] {
  const unsaved = vscode.workspace.textDocuments.filter((other) => other.isDirty && other.uri.scheme === "file" && other !== document);
  return document ? [document, ...unsaved] : unsaved;
}
