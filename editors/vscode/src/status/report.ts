/** "Tark: Show Usage": a report as a document. */

import * as vscode from "vscode";
import { type Usage, usageReport } from "./reportText";
import type { Client } from "../server/client";

const SCHEME = "tark-report";

export class Reports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changes.event;

  constructor(private readonly client: Client) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async showUsage(): Promise<void> {
    const { sessionId } = this.client.state;
    const all = await this.client.executeCommand<Usage>("tark.usage");
    const session = sessionId === undefined ? undefined : await this.client.executeCommand<Usage>("tark.usage", { sessionId });
    await this.show("Usage", usageReport(all, session));
  }

  dispose(): void {
    this.registered.dispose();
    this.changes.dispose();
  }

  private async show(title: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/Tark ${title}.txt` });
    this.texts.set(uri.path, text);
    this.changes.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }
}
