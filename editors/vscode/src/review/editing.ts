/**
 * Opens the new lines of a hunk as a separate document. Saving it proposes the edited lines. VS Code protects its unsaved
 * text as in any file.
 */

import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { Server } from "../model/server";
import { undecidedHunks } from "./hunkText";
import { addressUser } from "../text/serverWords";
import { notificationText, plainLine } from "../text/surfaces";
import { errorMessage, showResult } from "../window/notify";

export const HUNK_SCHEME = "tark-hunk";

interface Edited {
  text: string;
  mtime: number;
  readonly hunk: Hunk;
}

export class HunkEditing implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** By hunk id, which is the authority of the document's URI. */
  private readonly edited = new Map<string, Edited>();
  private readonly registration: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.registration = vscode.workspace.registerFileSystemProvider(HUNK_SCHEME, this, { isCaseSensitive: true });
  }

  /** Opens the document with the focus. Its name ends like the file's, which selects the highlighting. */
  async openHunk(uri: string, hunk: Hunk): Promise<void> {
    this.forgetClosed();
    const known = this.edited.get(hunk.hunkId);
    const path = `/Tark's lines for ${plainLine(vscode.Uri.parse(uri).path.split("/").at(-1) ?? "")}`;
    const own = vscode.Uri.from({ scheme: HUNK_SCHEME, authority: hunk.hunkId, path });
    if (known?.hunk.newText !== hunk.newText && known?.text !== hunk.newText) {
      this.edited.set(hunk.hunkId, { text: hunk.newText, mtime: Date.now(), hunk });
      this.changed.fire([{ type: vscode.FileChangeType.Changed, uri: own }]);
    }
    const document = await vscode.workspace.openTextDocument(own);
    await vscode.window.showTextDocument(document, { preview: false });
    showResult("save to propose these lines, accept to apply them");
  }

  /** Forgets documents that are closed: the server has their text. */
  private forgetClosed(): void {
    const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === HUNK_SCHEME);
    for (const id of [...this.edited.keys()].filter((hunkId) => !open.some(({ uri }) => uri.authority === hunkId))) {
      this.edited.delete(id);
    }
  }

  /** The hunk that the document edits. */
  hunkIn(document: vscode.TextDocument): Hunk | undefined {
    return this.edited.get(document.uri.authority)?.hunk;
  }

  /** Applies the edited lines, and closes the document. */
  async acceptEdited(document: vscode.TextDocument): Promise<void> {
    try {
      await this.propose(this.editedHunk(document.uri), document.getText(), { accept: true });
    } catch (problem) {
      throw new Error(`not accepted: ${addressUser(errorMessage(problem))}; your text is still here`, { cause: problem });
    }
    await document.save(); // the same text, so nothing is sent
    await this.closeDocument(document);
    showResult("your lines were accepted");
  }

  /** VS Code asks first if the document has unsaved text. */
  async closeDocument(document: vscode.TextDocument): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(
      (tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === document.uri.toString(),
    );
    await vscode.window.tabGroups.close(own, true);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { text, mtime } = this.editedHunk(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime, size: new TextEncoder().encode(text).length };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return new TextEncoder().encode(this.editedHunk(uri).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const [edited, text] = [this.editedHunk(uri), new TextDecoder().decode(content)];
    try {
      if (text !== edited.text) {
        await this.propose(edited, text, {});
      }
    } catch (problem) {
      throw new vscode.FileSystemError(notificationText(`not saved: ${addressUser(errorMessage(problem))}; your text is still here`));
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

  /** Records the text at once, so that auto save does not send it a second time. */
  private async propose(edited: Edited, text: string, how: { accept?: true }): Promise<void> {
    const former = edited.text;
    edited.text = text;
    try {
      await this.server.executeCommand("tark.hunk.edit", { hunkId: edited.hunk.hunkId, newText: text, ...how });
      edited.mtime = Date.now();
    } catch (problem) {
      edited.text = former;
      throw problem;
    }
  }

  /** A document of an earlier window works again once the server has reported its hunk. */
  private editedHunk(uri: vscode.Uri): Edited {
    const hunk = undecidedHunks(this.server.state.hunks).find((undecided) => undecided.hunk.hunkId === uri.authority)?.hunk;
    const found = this.edited.get(uri.authority) ?? (hunk && { text: hunk.newText, mtime: Date.now(), hunk });
    if (!found) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    this.edited.set(uri.authority, found);
    return found;
  }
}
