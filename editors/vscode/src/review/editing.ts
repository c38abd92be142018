/**
 * The new lines of a hunk as a document of their own: saving it proposes them, and what is typed there is as safe as in
 * any file that is not saved yet.
 */

import * as vscode from "vscode";
import type { Hunk } from "../protocol";
import type { Server } from "../server/server";
import { said } from "./words";
import { words } from "../notify";

export const SCHEME = "tark-hunk";

interface Edited {
  text: string;
  mtime: number;
  readonly hunk: Hunk;
  /** The next save is an accept. */
  accepting: boolean;
}

export class HunkEditing implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  private readonly edited = new Map<string, Edited>();
  private readonly registration: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.registration = vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true });
  }

  /** The person wants to write: they go there. */
  async open(uri: string, hunk: Hunk): Promise<void> {
    const path = `/${hunk.hunkId}/${vscode.Uri.parse(uri).path.split("/").at(-1) ?? ""}`;
    const known = this.edited.get(path);
    const isSame = known?.hunk.newText === hunk.newText || known?.text === hunk.newText;
    this.edited.set(path, {
      text: isSame ? known.text : hunk.newText,
      mtime: isSame ? known.mtime : Date.now(),
      hunk,
      accepting: false,
    });
    const document = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: SCHEME, path }));
    await vscode.window.showTextDocument(document, { preview: false });
    void vscode.window.setStatusBarMessage("Tark: saving proposes these lines, accepting applies them", 8000);
  }

  /** The hunk that is edited there. */
  hunkIn(document: vscode.TextDocument): Hunk | undefined {
    return this.edited.get(document.uri.path)?.hunk;
  }

  /** Applies what is written there, and closes it. */
  async accept(document: vscode.TextDocument): Promise<void> {
    const edited = this.of(document.uri);
    edited.accepting = true;
    const failed = await this.write(document.uri, document.getText()).then(
      () => undefined,
      (problem: unknown) => words(problem),
    );
    edited.accepting = false;
    if (failed !== undefined) {
      throw new Error(`not accepted: ${said(failed)}; your text is kept here`);
    }
    await document.save(); // of the same text: nothing is sent
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(
      (tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === document.uri.toString(),
    );
    await vscode.window.tabGroups.close(own, true);
    this.edited.delete(document.uri.path);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { text, mtime } = this.of(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime, size: new TextEncoder().encode(text).length };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return new TextEncoder().encode(this.of(uri).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    try {
      await this.write(uri, new TextDecoder().decode(content));
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

  private async write(uri: vscode.Uri, text: string): Promise<void> {
    const edited = this.of(uri);
    if (text === edited.text && !edited.accepting) {
      return;
    }
    const argument = { hunkId: edited.hunk.hunkId, newText: text, ...(edited.accepting ? { accept: true } : {}) };
    await this.server.command("tark.hunk.edit", argument);
    edited.text = text;
    edited.mtime = Date.now();
  }

  private of(uri: vscode.Uri): Edited {
    const found = this.edited.get(uri.path);
    if (!found) {
      throw vscode.FileSystemError.FileNotFound(uri); // of a window before this one
    }
    return found;
  }
}
