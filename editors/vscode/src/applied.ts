/** Changes that were applied, so that the last one can be undone also after other edits elsewhere. */

import * as vscode from "vscode";
import { differing } from "./hunks";

interface Changed {
  readonly uri: vscode.Uri;
  readonly before: string;
  readonly after: string;
}

export class Applied {
  private last: readonly Changed[] = [];

  /** Apply an edit, with a preview where its places need confirmation; whether anything changed. */
  async apply(edit: vscode.WorkspaceEdit): Promise<boolean> {
    const documents = await Promise.all(edit.entries().map(([uri]) => vscode.workspace.openTextDocument(uri)));
    const before = documents.map((document) => document.getText());
    const done = await vscode.workspace.applyEdit(edit);
    const changed = documents.map((document, number) => ({
      uri: document.uri,
      before: before[number] ?? "",
      after: document.getText(),
    }));
    const made = done ? changed.filter(({ before, after }) => before !== after) : [];
    if (made.length) this.last = made;
    return made.length > 0;
  }

  /** Undo the last change, in all its files or in none; a message says what happened. */
  async undo(): Promise<void> {
    if (!this.last.length) {
      void vscode.window.showInformationMessage("specedit: there is no change to undo in this window. `specedit undo` in a terminal reverts the last command.");
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    for (const { uri, before, after } of this.last) {
      const document = await vscode.workspace.openTextDocument(uri);
      if (document.getText() !== after) {
        const name = vscode.workspace.asRelativePath(uri);
        void vscode.window.showWarningMessage(`specedit: ${name} was changed since; nothing was undone. The editor's own undo still works.`);
        return;
      }
      const { before: old, after: now } = differing(before, after);
      const span = new vscode.Range(document.positionAt(now[0]), document.positionAt(now[1]));
      edit.replace(uri, span, before.slice(old[0], old[1]));
    }
    if (await vscode.workspace.applyEdit(edit)) this.last = [];
  }
}
