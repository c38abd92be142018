/** Shows requests in full, as virtual documents. A document is closed when its request ends. */

import * as vscode from "vscode";

export const REQUEST_SCHEME = "tark-asked";

export class RequestDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly texts = new Map<string, string>();
  /** By request id: the text whose end was on screen. */
  private readonly read = new Map<string, string>();
  private readonly seen = new vscode.EventEmitter<string>();
  /** Emits the request id when the end of its document was on screen. */
  readonly onDidRead = this.seen.event;
  private readonly owned: vscode.Disposable;

  constructor() {
    this.owned = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(REQUEST_SCHEME, this),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.recordRead(textEditor)),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.recordRead(editor))),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        vscode.window.visibleTextEditors.filter((editor) => editor.document === document).forEach((editor) => this.recordRead(editor));
      }),
      this.changed,
      this.seen,
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query) ?? "This request has ended.\n";
  }

  /** Shows the document with the focus. `ending` selects the highlighting. */
  async showDocument(requestId: string, text: string, ending: "diff" | "txt"): Promise<void> {
    this.setText(requestId, text);
    const uri = vscode.Uri.from({ scheme: REQUEST_SCHEME, path: `/Tark asks.${ending}`, query: requestId });
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    this.recordRead(editor);
  }

  /** The requests whose text is known. */
  get requestIds(): readonly string[] {
    return [...this.texts.keys()];
  }

  /** Updates the text; an open document shows it. */
  setText(requestId: string, text: string): void {
    if (this.texts.get(requestId) !== text) {
      this.texts.set(requestId, text);
      this.refresh(requestId);
    }
  }

  /** Was the end of this text on screen? */
  wasRead(requestId: string, text: string): boolean {
    return this.read.get(requestId) === text;
  }

  /** The request has ended: closes its tabs and leaves the focus where it is. */
  async closeDocument(requestId: string): Promise<void> {
    this.read.delete(requestId);
    if (this.texts.delete(requestId)) {
      this.refresh(requestId);
      const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
      await vscode.window.tabGroups.close(
        tabs.filter((tab) => tab.input instanceof vscode.TabInputText && isOf(tab.input.uri, requestId)),
        true,
      );
    }
  }

  dispose(): void {
    this.owned.dispose();
  }

  private refresh(requestId: string): void {
    for (const { uri } of vscode.workspace.textDocuments.filter((document) => isOf(document.uri, requestId))) {
      this.changed.fire(uri);
    }
  }

  private recordRead({ document, visibleRanges }: vscode.TextEditor): void {
    const { scheme, query } = document.uri;
    if (scheme !== REQUEST_SCHEME) {
      return; // the text of other documents is not copied at each keystroke
    }
    const last = visibleRanges.at(-1)?.end.line ?? -1;
    const text = document.getText().replaceAll("\r\n", "\n");
    // The editor can still show an older text than the current one.
    if (last >= document.lineCount - 2 && text === this.texts.get(query) && this.read.get(query) !== text) {
      this.read.set(query, text);
      this.seen.fire(query);
    }
  }
}

function isOf(uri: vscode.Uri, requestId: string): boolean {
  return uri.scheme === REQUEST_SCHEME && uri.query === requestId;
}
