/** Mentions and named prompts for the prompt: the server completes a document of its own kind, `tark:...tark.md`. */

import type { Server } from "../server/server";
import type { Disposable } from "../model/events";
import type { CompletionRow } from "./messages";
import { completionRows, positionAt, type CompletionAnswer } from "./completionRows";

const URI = "tark://chat/prompt.tark.md";

export class PromptCompletion implements Disposable {
  private version = 0; // of the document that the server has; 0: it has none
  private readonly listening: Disposable;

  constructor(private readonly server: Server) {
    this.listening = server.state.on("server", () => {
      this.version = 0;
    });
  }

  /** Nothing where no server runs: a key of the person starts none. */
  async at(text: string, offset: number): Promise<CompletionRow[]> {
    if (!this.server.running) {
      return [];
    }
    this.update(text);
    const answer = await this.server.request<CompletionAnswer | null>("textDocument/completion", {
      textDocument: { uri: URI },
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
      const textDocument = { uri: URI, languageId: "markdown", version: this.version, text };
      this.server.notify("textDocument/didOpen", { textDocument });
    } else {
      const textDocument = { uri: URI, version: this.version };
      this.server.notify("textDocument/didChange", { textDocument, contentChanges: [{ text }] });
    }
  }
}
