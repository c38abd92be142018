/** Shows reports: "Tark: Doctor" as a page, "Tark: Show Usage" as a document. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { DOCTOR_COMMANDS, doctorPage } from "./doctorPage";
import { type DoctorFacts, type EditorFacts, type Usage, usageReport } from "./reportText";
import type { Client } from "../server/client";
import { errorMessage } from "../window/notify";

const SCHEME = "tark-report";

export class Reports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changes.event;
  private doctor: vscode.WebviewPanel | undefined;

  constructor(
    private readonly client: Client,
    private readonly version: string,
  ) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async showUsage(): Promise<void> {
    const { sessionId } = this.client.state;
    const all = await this.client.executeCommand<Usage>("tark.usage");
    const session = sessionId === undefined ? undefined : await this.client.executeCommand<Usage>("tark.usage", { sessionId });
    await this.show("Usage", usageReport(all, session));
  }

  /** Works without a server, and reports that there is none. */
  async showDoctor(): Promise<void> {
    let facts: DoctorFacts | string;
    try {
      facts = await this.client.executeCommand<DoctorFacts>("tark.doctor");
    } catch (problem) {
      facts = errorMessage(problem);
    }
    const around: EditorFacts = {
      extension: this.version,
      editor: `${vscode.env.appName} ${vscode.version}`,
      trusted: vscode.workspace.isTrusted,
      ...(this.client.foundServer && { command: this.client.foundServer.command.join(" "), source: this.client.foundServer.source }),
    };
    this.showPage(doctorPage(facts, around, randomBytes(16).toString("base64url")));
  }

  private showPage(html: string): void {
    if (this.doctor === undefined) {
      // The page's policy runs no script. Without `enableScripts`, nothing could read the page, not even our tests.
      const options = { enableScripts: true, enableCommandUris: Object.keys(DOCTOR_COMMANDS), localResourceRoots: [] };
      this.doctor = vscode.window.createWebviewPanel("tark.doctor", "Tark Doctor", vscode.ViewColumn.Active, options);
      this.doctor.onDidDispose(() => (this.doctor = undefined));
    }
    this.doctor.webview.html = html;
    this.doctor.reveal();
  }

  dispose(): void {
    this.doctor?.dispose();
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
