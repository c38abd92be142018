/** The files that hunks are in: how they are called, what is in them, and whether they are opened at all. */

import * as vscode from "vscode";
import { openDocument } from "./documents";

const LARGEST = 10_000_000; // bytes, as the server has it

/** As the person says it: from their workspace folder. */
export function nameOf(uri: string): string {
  return vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
}

/** What a server or a model names is opened only where the person works: in their folders, or what they have open. */
export function isTheirs(uri: string): boolean {
  const parsed = vscode.Uri.parse(uri);
  const noFolder = (vscode.workspace.workspaceFolders ?? []).length === 0 && parsed.scheme === "file";
  return noFolder || vscode.workspace.getWorkspaceFolder(parsed) !== undefined || openDocument(uri) !== undefined;
}

/** Does the person have it open? What merely lies in memory, for another extension, nobody sees. */
export function isInTab(uri: string): boolean {
  const normal = vscode.Uri.parse(uri).toString();
  const of = ({ input }: vscode.Tab): (vscode.Uri | undefined)[] =>
    input instanceof vscode.TabInputText ? [input.uri] : input instanceof vscode.TabInputTextDiff ? [input.modified] : [];
  return vscode.window.tabGroups.all.some(({ tabs }) => tabs.flatMap(of).some((each) => each?.toString() === normal));
}

/** Undefined: there is none, or it is too large to be shown. */
export async function linesOfFile(uri: string): Promise<string[] | undefined> {
  const open = openDocument(uri);
  if (open) {
    return open.getText().split(/\r\n|\r|\n/);
  }
  if (!isTheirs(uri)) {
    return undefined;
  }
  try {
    const parsed = vscode.Uri.parse(uri);
    const { size } = await vscode.workspace.fs.stat(parsed);
    if (size > LARGEST) {
      return undefined;
    }
    const bytes = await vscode.workspace.fs.readFile(parsed);
    return new TextDecoder().decode(bytes).split(/\r\n|\r|\n/);
  } catch {
    return undefined; // it is to be made, or was deleted
  }
}

/** At a line, where the person goes. Fails with words for them. */
export async function goTo(uri: string, line: number): Promise<vscode.TextEditor> {
  if (!isTheirs(uri)) {
    throw new Error(`${nameOf(uri)} is outside of the workspace, so it is not opened here`);
  }
  let document: vscode.TextDocument;
  try {
    document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  } catch {
    throw new Error(`${nameOf(uri)} cannot be opened: it is not there yet, or is no text (Show Diff shows what is to be)`);
  }
  const editor = await vscode.window.showTextDocument(document);
  moveTo(editor, line);
  return editor;
}

export function moveTo(editor: vscode.TextEditor, line: number): void {
  const place = new vscode.Position(Math.max(0, Math.min(line, editor.document.lineCount - 1)), 0);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
