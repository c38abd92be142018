/** Opens files and web pages that the chat names. */

import * as vscode from "vscode";
import { lastFileEditor } from "../window/lastFileEditor";
import { showWarning } from "../window/notify";
import { DIFF_SCHEME as DIFF } from "../review/diff";
import { resolveInFolders } from "./workspaceFiles";

const LONGEST_URL = 2000;

export function folderUris(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.toString());
}

/** The paths of the workspace folders. */
export function folderPaths(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

/** Opens a path that a model wrote, if it is a file in the workspace. */
export async function openPath(named: string, first?: number, last?: number): Promise<void> {
  const file = await resolveInFolders(folderPaths(), named);
  if (file === undefined) {
    await showWarning(`${named.slice(0, 200)} is not a file in the workspace`);
    return;
  }
  await show(vscode.Uri.file(file), first === undefined ? undefined : { first, last: last ?? first });
}

/** Opens a URI of the server, if the document is open or a file in the workspace. */
export async function openUri(named: string, line?: number): Promise<void> {
  const uri = vscode.Uri.parse(named);
  const known = vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
  if (known && uri.scheme !== DIFF) {
    await show(uri, line === undefined ? undefined : { first: line + 1, last: line + 1 });
  } else if (uri.scheme === "file") {
    await openPath(uri.fsPath, line === undefined ? undefined : line + 1);
  } else {
    await showWarning("that document is no longer open");
  }
}

async function show(uri: vscode.Uri, lines: { first: number; last: number } | undefined): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const end = document.lineCount - 1;
  const first = Math.min((lines?.first ?? 1) - 1, end);
  const last = Math.min((lines?.last ?? 1) - 1, end);
  const selection = new vscode.Range(first, 0, last, first === last ? 0 : document.lineAt(last).text.length);
  await vscode.window.showTextDocument(document, lines === undefined ? {} : { selection });
}

/** VS Code asks first if the host is not trusted. */
export async function openInBrowser(url: string): Promise<void> {
  const uri = url.length <= LONGEST_URL ? vscode.Uri.parse(url) : undefined;
  if (uri === undefined || (uri.scheme !== "http" && uri.scheme !== "https")) {
    await showWarning("this is not the address of a web page");
  } else {
    await vscode.env.openExternal(uri);
  }
}

/** The file the user works in. The server knows only documents of files. */
export function activeFile(): vscode.TextDocument | undefined {
  return lastFileEditor()?.document;
}
