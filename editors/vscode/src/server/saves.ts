/** Saves with their reason, which LSP's own word of them does not have: auto save accepts no hunks (docs/protocol.md). */

import * as vscode from "vscode";
import type { FeatureState, StaticFeature } from "vscode-languageclient/node";

export class Saves implements StaticFeature {
  private readonly reasons = new Map<string, vscode.TextDocumentSaveReason>();
  private listener?: vscode.Disposable;

  constructor(private readonly tell: (document: vscode.TextDocument, reason: number) => Promise<void>) {}

  fillClientCapabilities(): void {
    // It has none.
  }

  initialize(): void {
    this.listener = vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
      this.reasons.set(document.uri.toString(), reason);
    });
  }

  getState(): FeatureState {
    return { kind: "static" };
  }

  clear(): void {
    this.listener?.dispose();
    this.reasons.clear();
  }

  /** Middleware: in place of what the client sends, where the reason is known. */
  readonly didSave = (document: vscode.TextDocument, next: (document: vscode.TextDocument) => Promise<void>): Promise<void> => {
    const key = document.uri.toString();
    const reason = this.reasons.get(key);
    this.reasons.delete(key);
    return reason === undefined ? next(document) : this.tell(document, reason);
  };
}
