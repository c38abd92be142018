/** "Tark: Doctor": a page with problems and the buttons that solve them. It follows the server and the model while it is open. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { DOCTOR_COMMANDS, doctorPage } from "./doctorPage";
import type { DoctorFacts, EditorFacts } from "./reportText";
import type { Client } from "../server/client";
import { errorMessage } from "../window/notify";

export class Doctor implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private readonly listening: readonly { dispose(): void }[];
  private shown = "";
  /** The same for each drawing, so that an unchanged page is not reloaded while the user works with it. */
  private readonly nonce = randomBytes(16).toString("base64url");

  constructor(
    private readonly client: Client,
    private readonly version: string,
  ) {
    const { state } = client;
    const follow = (): void => void (this.panel !== undefined && this.shown !== this.about() && this.draw());
    this.listening = [state.on("session", follow), state.on("server", follow)];
  }

  /** Works without a server, and reports that there is none. */
  async show(): Promise<void> {
    const html = await this.page();
    if (this.panel === undefined) {
      // The page's policy runs no script. Without `enableScripts`, nothing could read the page, not even the tests.
      const options = { enableScripts: true, enableCommandUris: Object.keys(DOCTOR_COMMANDS), localResourceRoots: [] };
      this.panel = vscode.window.createWebviewPanel("tark.doctor", "Tark Doctor", vscode.ViewColumn.Active, options);
      this.panel.onDidDispose(() => (this.panel = undefined));
    }
    this.panel.webview.html = html;
    this.panel.reveal();
  }

  dispose(): void {
    this.panel?.dispose();
    for (const listener of this.listening) {
      listener.dispose();
    }
  }

  /** The facts that the page depends on and that can change while it is open. */
  private about(): string {
    return `${this.client.state.settings?.model ?? ""} ${String(this.client.running)}`;
  }

  private async draw(): Promise<void> {
    const html = await this.page();
    if (this.panel !== undefined && this.panel.webview.html !== html) {
      this.panel.webview.html = html;
    }
  }

  private async page(): Promise<string> {
    this.shown = this.about();
    const facts = await this.client.executeCommand<DoctorFacts>("tark.doctor").catch(errorMessage);
    const around: EditorFacts = {
      extension: this.version,
      editor: `${vscode.env.appName} ${vscode.version}`,
      trusted: vscode.workspace.isTrusted,
      ...(this.client.foundServer && { command: this.client.foundServer.command.join(" "), source: this.client.foundServer.source }),
    };
    return doctorPage(facts, around, this.nonce);
  }
}
