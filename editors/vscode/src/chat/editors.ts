/** What the chat does in editors: shows a place, puts code there, has it worked in, copies it. */

import * as vscode from "vscode";
import { lastFileEditor } from "../turns/lastFileEditor";
import { warn } from "../status/notify";
import { SCHEME as DIFF } from "../review/diff";
import type { Turns } from "../turns/turn";
import { resolveIn } from "./places";

const LONGEST_URL = 2000;

export function folderUris(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.toString());
}

/** As a model wrote it: only a file of the workspace. */
export async function openPath(named: string, first?: number, last?: number): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const file = await resolveIn(
    folders.map((folder) => folder.uri.fsPath),
    named,
  );
  if (file === undefined) {
    await warn(`${named.slice(0, 200)} is no file in the workspace`);
    return;
  }
  await show(vscode.Uri.file(file), first === undefined ? undefined : { first, last: last ?? first });
}

/** As the server named it, which still is looked for in the workspace. */
export async function openUri(named: string, line?: number): Promise<void> {
  const uri = vscode.Uri.parse(named);
  const known = vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
  if (known && uri.scheme !== DIFF) {
    await show(uri, line === undefined ? undefined : { first: line + 1, last: line + 1 });
  } else if (uri.scheme === "file") {
    await openPath(uri.fsPath, line === undefined ? undefined : line + 1);
  } else {
    await warn("that file is not open any more");
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

/** VS Code asks about hosts that are not trusted. */
export async function browse(url: string): Promise<void> {
  const uri = url.length <= LONGEST_URL ? vscode.Uri.parse(url) : undefined;
  if (uri === undefined || (uri.scheme !== "http" && uri.scheme !== "https")) {
    await warn("that is no address of a web page");
  } else {
    await vscode.env.openExternal(uri);
  }
}

/** In place of what is selected, as one step to undo. */
export async function insert(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? lastFileEditor();
  if (editor === undefined) {
    await warn("no file is open to insert it in");
    return;
  }
  const done = await editor.edit((edit) => {
    for (const selection of editor.selections) {
      edit.replace(selection, text);
    }
  });
  if (!done) {
    await warn("it could not be inserted: the file cannot be changed");
  }
}

/** A turn works it into the file: what it changes is reviewed as always. */
export async function apply(text: string, turns: Turns): Promise<void> {
  const document = activeFile();
  if (document === undefined) {
    await warn("no file is open to apply it to");
    return;
  }
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const name = vscode.workspace.asRelativePath(document.uri);
  const prompt = `Work this code into ${name}, where it belongs, and change nothing else:\n\n${fence}\n${text.replace(/\n?$/, "\n")}${fence}`;
  await turns.send({ prompt, textDocument: { uri: document.uri.toString(), version: document.version } });
}

export async function copy(text: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
}

/** The file that the person is at: the server knows no other documents. */
export function activeFile(): vscode.TextDocument | undefined {
  return lastFileEditor()?.document;
}
