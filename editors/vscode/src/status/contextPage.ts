/** "Tark: Show Context": a page about the context of the current session. It follows the session while it is open. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Server } from "../model/server";
import { errorMessage } from "../window/notify";
import { contextHtml, type ContextUsage, PAGE_COMMANDS } from "./contextHtml";

export class ContextPage implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private readonly listening: readonly { dispose(): void }[];

  constructor(private readonly server: Server) {
    const { state } = server;
    this.listening = [
      state.on("session", () => void this.draw()),
      state.on("update", ({ params }) => void (params.update.kind === "end" && params.sessionId === state.sessionId && this.draw())),
    ];
  }

  async show(): Promise<void> {
    if (this.panel === undefined) {
      // The page's policy runs no script. Without `enableScripts`, nothing could read the page, not even the tests.
      const options = { enableScripts: true, enableCommandUris: PAGE_COMMANDS, localResourceRoots: [] };
      const panel = vscode.window.createWebviewPanel("tark.context", "Tark Context", vscode.ViewColumn.Active, options);
      panel.onDidDispose(() => (this.panel = undefined));
      panel.onDidChangeViewState(() => void this.draw());
      this.panel = panel;
    } else {
      this.panel.reveal();
    }
    await this.draw();
  }

  dispose(): void {
    this.panel?.dispose();
    for (const listener of this.listening) {
      listener.dispose();
    }
  }

  private async draw(): Promise<void> {
    const { panel } = this;
    const { sessionId, sessions } = this.server.state;
    if (panel?.visible !== true) {
      return;
    }
    const usage = sessionId === undefined ? undefined : await this.server.executeCommand<ContextUsage>("tark.session.context", { sessionId }).catch(errorMessage);
    if (this.panel === panel && this.server.state.sessionId === sessionId) {
      panel.webview.html = contextHtml(sessions.get(sessionId ?? "")?.title ?? "", usage, randomBytes(16).toString("base64url"));
    }
  }
}
