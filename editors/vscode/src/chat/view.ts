/** The chat in the side bar. (A stand-in: helper CHAT writes it.) */

import * as vscode from "vscode";
import type { Core } from "../parts";

export class ChatView implements vscode.Disposable {
  constructor(
    readonly context: vscode.ExtensionContext,
    readonly core: Core,
  ) {}

  /** Shows it; `focus`: the prompt gets the keys. `text` goes into the prompt, behind what is typed there. */
  show(_options: { focus: boolean; text?: string }): void {
    void vscode.commands.executeCommand("tark.chat.focus");
  }

  dispose(): void {
    // nothing yet
  }
}
