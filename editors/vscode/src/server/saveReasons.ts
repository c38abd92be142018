/** Adds the reason of a save to `didSave`. LSP omits it, but auto save must not accept hunks (docs/protocol.md). */

import * as vscode from "vscode";
import type { FeatureState, StaticFeature } from "vscode-languageclient/node";

export class SaveReasons implements StaticFeature {
  private readonly reasons = new Map<string, vscode.TextDocumentSaveReason>();
  private listener?: vscode.Disposable;

  constructor(private readonly tell: (document: vscode.TextDocument, reason: number) => Promise<void>) {}

  fillClientCapabilities(): void {
    // It needs none.
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

  /** Middleware: replaces the client's notification if the reason is known. */
  readonly didSave = (document: vscode.TextDocument, next: (document: vscode.TextDocument) => Promise<void>): Promise<void> => {
    const key = document.uri.toString();
    const reason = this.reasons.get(key);
    this.reasons.delete(key);
    return reason === undefined ? next(document) : this.tell(document, reason);
  };
}
