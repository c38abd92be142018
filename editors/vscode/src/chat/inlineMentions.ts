/** Completes mentions in the input box at the selection, as in the chat. */

import * as vscode from "vscode";
import type { Server } from "../model/server";
import type { InlineBox } from "../window/inlineBox";
import { PromptCompletion } from "./completion";

export function completeInlineMentions(server: Server, inline: InlineBox): vscode.Disposable {
  const completion = new PromptCompletion(server, "tark://inline/prompt.tark.md");
  const provider: vscode.CompletionItemProvider = {
    provideCompletionItems: async (document, position) => {
      if (!inline.contains(document)) {
        return undefined;
      }
      const text = document.getText();
      const rows = await completion.completeAt(text, document.offsetAt(position));
      const items = rows.map(({ label, detail, insert, from, to }, order) => {
        const item = new vscode.CompletionItem({ label, ...(detail !== undefined && { description: detail }) }, vscode.CompletionItemKind.Reference);
        item.range = new vscode.Range(document.positionAt(from), document.positionAt(to));
        item.insertText = insert.endsWith(":") ? insert : `${insert} `;
        item.filterText = text.slice(from, to); // the server has chosen
        item.sortText = String(order).padStart(4, "0");
        return item;
      });
      return new vscode.CompletionList(items, true);
    },
  };
  const registered = vscode.languages.registerCompletionItemProvider({ scheme: "comment" }, provider, "@", "/", ":");
  return vscode.Disposable.from(registered, completion);
}
