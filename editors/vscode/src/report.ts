/** The page of an edit's passes, in a webview that can load nothing. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { sealed } from "./page";

export function reportPage(html: string): vscode.WebviewPanel {
  const options = { enableScripts: true, localResourceRoots: [] };
  const panel = vscode.window.createWebviewPanel("specedit.report", "specedit: report", vscode.ViewColumn.Beside, options);
  panel.webview.html = sealed(html, randomBytes(16).toString("hex"));
  return panel;
}
