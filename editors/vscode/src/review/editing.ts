/**
 * The new lines of a hunk as a document of their own: saving it proposes them, and what is typed there is as safe as in
 * any file that is not saved yet.
 */

import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { Server } from "../server/server";
import { allWaiting, said } from "./words";
import { words } from "../status/notify";

export const SCHEME = "tark-hunk";

interface Edited {
  text: string;
  mtime: number;
  readonly hunk: Hunk;
}

export class HunkEditing implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** By hunk, which is the authority of its document. */
  private readonly edited = new Map<string, Edited>();
  private readonly registration: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.registration = vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true });
  }

  /** The person wants to write: they go there. Its name ends as the file's, so that it is highlighted as that. */
  async open(uri: string, hunk: Hunk): Promise<void> {
    this.forget();
    const known = this.edited.get(hunk.hunkId);
    const path = `/Tark's lines for ${vscode.Uri.parse(uri).path.split("/").at(-1) ?? ""}`;
    const own = vscode.Uri.from({ scheme: SCHEME, authority: hunk.hunkId, path });
    if (known?.hunk.newText !== hunk.newText && known?.text !== hunk.newText) {
      this.edited.set(hunk.hunkId, { text: hunk.newText, mtime: Date.now(), hunk });
      this.changed.fire([{ type: vscode.FileChangeType.Changed, uri: own }]);
    }
    const document = await vscode.workspace.openTextDocument(own);
    await vscode.window.showTextDocument(document, { preview: false });
    void vscode.window.setStatusBarMessage("Tark: saving proposes these lines, accepting applies them", 8000);
  }

  /** What is closed is the server's. */
  private forget(): void {
    const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === SCHEME);
    for (const id of [...this.edited.keys()].filter((each) => !open.some(({ uri }) => uri.authority === each))) {
      this.edited.delete(id);
    }
  }

  /** The hunk that is edited there. */
  hunkIn(document: vscode.TextDocument): Hunk | undefined {
    return this.edited.get(document.uri.authority)?.hunk;
  }

  /** Applies what is written there, and closes it. */
  async accept(document: vscode.TextDocument): Promise<void> {
    try {
      await this.propose(this.of(document.uri), document.getText(), { accept: true });
    } catch (problem) {
      throw new Error(`not accepted: ${said(words(problem))}; your text is kept here`, { cause: problem });
    }
    await document.save(); // of the same text: nothing is sent
    await this.close(document);
    vscode.window.setStatusBarMessage("Tark: accepted your lines", 5000);
  }

  /** VS Code asks where there is something in it that is nowhere else. */
  async close(document: vscode.TextDocument): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(
      (tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === document.uri.toString(),
    );
    await vscode.window.tabGroups.close(own, true);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { text, mtime } = this.of(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime, size: new TextEncoder().encode(text).length };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return new TextEncoder().encode(this.of(uri).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const [edited, text] = [this.of(uri), new TextDecoder().decode(content)];
    try {
      if (text !== edited.text) {
        await this.propose(edited, text, {});
      }
    } catch (problem) {
      throw new vscode.FileSystemError(`not taken: ${said(words(problem))}; your text is kept here`);
    }
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  /** Noted at once, so that auto save does not say the same meanwhile. */
  private async propose(edited: Edited, text: string, how: { accept?: true }): Promise<void> {
    const former = edited.text;
    edited.text = text;
    try {
      await this.server.command("tark.hunk.edit", { hunkId: edited.hunk.hunkId, newText: text, ...how });
      edited.mtime = Date.now();
    } catch (problem) {
      edited.text = former;
      throw problem;
    }
  }

  /** One of a window before this one is that hunk still, once its server has told of it. */
  private of(uri: vscode.Uri): Edited {
    const hunk = allWaiting(this.server.state.hunks).find((each) => each.hunk.hunkId === uri.authority)?.hunk;
    const found = this.edited.get(uri.authority) ?? (hunk && { text: hunk.newText, mtime: Date.now(), hunk });
    if (!found) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    this.edited.set(uri.authority, found);
    return found;
  }
}
