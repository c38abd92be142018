/** Names, reads and opens files by their URIs. */

import * as vscode from "vscode";

const LARGEST = 10_000_000; // bytes; the server has the same limit

/** The path from the workspace folder. */
export function relativeName(uri: string): string {
  return vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
}

/** A file that the server or a model names can be opened only if it is in a workspace folder, or already open. */
export function mayOpen(uri: string): boolean {
  const parsed = vscode.Uri.parse(uri);
  const noFolder = (vscode.workspace.workspaceFolders ?? []).length === 0 && parsed.scheme === "file";
  return noFolder || vscode.workspace.getWorkspaceFolder(parsed) !== undefined || openDocument(uri) !== undefined;
}

/** Is the file open in a tab? A document that is only in memory, for another extension, is not visible. */
export function hasTab(uri: string): boolean {
  const normal = vscode.Uri.parse(uri).toString();
  const urisOf = ({ input }: vscode.Tab): (vscode.Uri | undefined)[] =>
    input instanceof vscode.TabInputText ? [input.uri] : input instanceof vscode.TabInputTextDiff ? [input.modified] : [];
  return vscode.window.tabGroups.all.some(({ tabs }) => tabs.flatMap(urisOf).some((uriInTab) => uriInTab?.toString() === normal));
}

/** The lines of a document or a file. Undefined if there is no such file, or it is too large. */
export async function readLines(uri: string): Promise<string[] | undefined> {
  const open = openDocument(uri);
  if (open) {
    return open.getText().split(/\r\n|\r|\n/);
  }
  if (!mayOpen(uri)) {
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
    return undefined; // it is not created yet, or was deleted
  }
}

/** Opens a file at a line, and focuses it. Uses an editor in which it is already visible. Rejects with a message for the user. */
export async function openAtLine(uri: string, line: number): Promise<vscode.TextEditor> {
  if (!mayOpen(uri)) {
    throw new Error(`${relativeName(uri)} is outside the workspace, so it is not opened`);
  }
  let document: vscode.TextDocument;
  try {
    document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  } catch {
    throw new Error(`${relativeName(uri)} cannot be opened: it does not exist yet, or is not a text file; a diff shows the change`);
  }
  const isShown = ({ document: shown }: vscode.TextEditor): boolean => shown === document;
  const visible = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors].find((editor) => editor !== undefined && isShown(editor));
  const editor = await vscode.window.showTextDocument(document, visible?.viewColumn);
  moveCursor(editor, line);
  return editor;
}

export function openDocument(uri: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri && !document.isClosed);
}

export function moveCursor(editor: vscode.TextEditor, line: number): void {
  const place = new vscode.Position(Math.max(0, Math.min(line, editor.document.lineCount - 1)), 0);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
