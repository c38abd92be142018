/** What is asked, whole, as documents that belong to no file: gone as soon as nobody asks any more. */

import * as vscode from "vscode";

export const SCHEME = "tark-asked";

export class AskedDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly texts = new Map<string, string>();
  /** By request: the text whose end was on the screen. */
  private readonly read = new Map<string, string>();
  private readonly seen = new vscode.EventEmitter<string>();
  /** The end of one was seen, by its request. */
  readonly onDidRead = this.seen.event;
  private readonly owned: vscode.Disposable;

  constructor() {
    this.owned = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.look(textEditor)),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.look(editor))),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        vscode.window.visibleTextEditors.filter((each) => each.document === document).forEach((each) => this.look(each));
      }),
      this.changed,
      this.seen,
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query) ?? "Nobody asks this any more.\n";
  }

  /** The person goes there. `ending` says how it is highlighted. */
  async show(requestId: string, text: string, ending: "diff" | "txt"): Promise<void> {
    this.keep(requestId, text);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/Tark asks.${ending}`, query: requestId });
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    this.look(editor);
  }

  /** It may say another thing by now: who shows it sees that. */
  keep(requestId: string, text: string): void {
    if (this.texts.get(requestId) !== text) {
      this.texts.set(requestId, text);
      this.refresh(requestId);
    }
  }

  /** Was all of this text on the screen? */
  wasRead(requestId: string, text: string): boolean {
    return this.read.get(requestId) === text;
  }

  /** Nobody asks any more. Who answered looks at something else: only our own tabs are closed, without the focus. */
  async drop(requestId: string): Promise<void> {
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
    for (const { uri } of vscode.workspace.textDocuments.filter((each) => isOf(each.uri, requestId))) {
      this.changed.fire(uri);
    }
  }

  private look({ document, visibleRanges }: vscode.TextEditor): void {
    const { scheme, query } = document.uri;
    if (scheme !== SCHEME) {
      return; // its text is not copied at each key
    }
    const last = visibleRanges.at(-1)?.end.line ?? -1;
    const text = document.getText().replaceAll("\r\n", "\n");
    // What is drawn may be older than what is asked by now.
    if (last >= document.lineCount - 2 && text === this.texts.get(query) && this.read.get(query) !== text) {
      this.read.set(query, text);
      this.seen.fire(query);
    }
  }
}

function isOf(uri: vscode.Uri, requestId: string): boolean {
  return uri.scheme === SCHEME && uri.query === requestId;
}
