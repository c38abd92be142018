/**
 * Completes mentions and named prompts: the prompt is sent to the server as a virtual document,
 * `tark://…/prompt.tark.md`.
 */

import type { Server } from "../model/server";
import type { Disposable } from "../model/events";
import type { CompletionRow } from "./messages";
import { completionRows, positionAt, type CompletionAnswer } from "./completionRows";

const CHAT = "tark://chat/prompt.tark.md";

export class PromptCompletion implements Disposable {
  private version = 0; // of the server's document; 0: the server has none
  private readonly listening: Disposable;

  /** `uri` of the virtual document. */
  constructor(
    private readonly server: Server,
    private readonly uri = CHAT,
  ) {
    this.listening = server.state.on("server", () => {
      this.version = 0;
    });
  }

  /** Empty if no server runs: typing does not start one. */
  async completeAt(text: string, offset: number): Promise<CompletionRow[]> {
    if (!this.server.running) {
      return [];
    }
    this.update(text);
    const answer = await this.server.sendRequest<CompletionAnswer | null>("textDocument/completion", {
      textDocument: { uri: this.uri },
      position: positionAt(text, offset),
    });
    return answer === null ? [] : completionRows(text, offset, answer);
  }

  dispose(): void {
    this.listening.dispose();
  }

  private update(text: string): void {
    this.version += 1;
    if (this.version === 1) {
      const textDocument = { uri: this.uri, languageId: "markdown", version: this.version, text };
      this.server.sendNotification("textDocument/didOpen", { textDocument });
    } else {
      const textDocument = { uri: this.uri, version: this.version };
      this.server.sendNotification("textDocument/didChange", { textDocument, contentChanges: [{ text }] });
    }
  }
}
