/** What the server says of itself and of its use, as a document to read: "Tark: Doctor" and "Tark: Show Usage". */

import * as vscode from "vscode";
import { type Context, contextReport, doctorReport, type DoctorFacts, type Surroundings, type Usage, usageReport } from "./reportText";
import type { Client } from "../server/client";
import { line } from "../text/visible";

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

  async usage(): Promise<void> {
    const { sessionId } = this.client.state;
    const all = await this.client.command<Usage>("tark.usage");
    const session = sessionId === undefined ? undefined : await this.client.command<Usage>("tark.usage", { sessionId });
    await this.show("Usage", usageReport(all, session));
  }

  /** Of the session that goes on. */
  async context(): Promise<void> {
    const { sessionId, sessions } = this.client.state;
    if (sessionId === undefined) {
      throw new Error("there is no session yet: the next prompt begins one");
    }
    const context = await this.client.command<Context>("tark.session.context", { sessionId });
    await this.show("Context", contextReport(`“${line(sessions.get(sessionId)?.title ?? "")}”`, context));
  }

  /** Also where there is no server: then it says so. */
  async doctor(): Promise<void> {
    let facts: DoctorFacts | string;
    try {
      facts = await this.client.command<DoctorFacts>("tark.doctor");
    } catch (problem) {
      facts = problem instanceof Error ? problem.message : String(problem);
    }
    const around: Surroundings = {
      extension: this.version,
      editor: `${vscode.env.appName} ${vscode.version}`,
      trusted: vscode.workspace.isTrusted,
      ...(this.client.found && { command: this.client.found.command.join(" "), from: this.client.found.from }),
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
