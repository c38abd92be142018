/** Actions of the chat in editors: opens files, and inserts, applies and copies code. */

import * as vscode from "vscode";
import { lastFileEditor } from "../window/lastFileEditor";
import { fencedBlock } from "../text/surfaces";
import { showWarning } from "../window/notify";
import { DIFF_SCHEME as DIFF } from "../review/diff";
import type { Turns } from "../turns/turns";
import { resolveInFolders } from "./workspaceFiles";

const LONGEST_URL = 2000;

export function folderUris(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.toString());
}

/** Opens a path that a model wrote, if it is a file in the workspace. */
export async function openPath(named: string, first?: number, last?: number): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const file = await resolveInFolders(
    folders.map((folder) => folder.uri.fsPath),
    named,
  );
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

/** Replaces the selection, as one undo step. */
export async function insertText(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? lastFileEditor();
  if (editor === undefined) {
    await showWarning("open a file to insert the code");
    return;
  }
  const done = await editor.edit((edit) => {
    for (const selection of editor.selections) {
      edit.replace(selection, text);
    }
  });
  if (!done) {
    await showWarning("the code could not be inserted: the file cannot be edited");
  }
}

/** Starts a turn that works the code into the active file. The user reviews its changes as usual. */
export async function applyCode(text: string, turns: Turns): Promise<void> {
  const document = activeFile();
  if (document === undefined) {
    await showWarning("open a file to apply the code to");
    return;
  }
  const name = vscode.workspace.asRelativePath(document.uri);
  const prompt = `Work this code into ${name}, where it belongs, and change nothing else:\n\n${fencedBlock(text, "")}`;
  await turns.sendPrompt({ prompt, textDocument: { uri: document.uri.toString(), version: document.version } });
}

export async function copyText(text: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
}

/** The file the user works in. The server knows only documents of files. */
export function activeFile(): vscode.TextDocument | undefined {
  return lastFileEditor()?.document;
}
