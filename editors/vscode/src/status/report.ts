/** Shows reports as documents: "Tark: Doctor" and "Tark: Show Usage". */

import * as vscode from "vscode";
import { doctorReport, type DoctorFacts, type EditorFacts, type Usage, usageReport } from "./reportText";
import type { Client } from "../server/client";

const SCHEME = "tark-report";

export class Reports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changes.event;

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
      facts = problem instanceof Error ? problem.message : String(problem);
    }
    const around: EditorFacts = {
      extension: this.version,
      editor: `${vscode.env.appName} ${vscode.version}`,
      trusted: vscode.workspace.isTrusted,
      ...(this.client.foundServer && { command: this.client.foundServer.command.join(" "), source: this.client.foundServer.source }),
    };
    await this.show("Doctor", doctorReport(facts, around));
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
