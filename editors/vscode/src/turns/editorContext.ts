/** The file and the selection that a turn is about, at the moment the user starts it. */

import * as vscode from "vscode";
import type { Range } from "../model/protocol";
import { lastFileEditor } from "../window/lastFileEditor";

export interface EditorContext {
  /** "lines 3 to 5 of prices.py"; empty if nothing is selected. */
  readonly description: string;
  readonly textDocument?: { readonly uri: string; readonly version: number };
  readonly range?: vscode.Range;
  /** The selected text, if the document is not a file on disk. */
  readonly text?: string;
}

/** The context of the editor that has the focus, or had it last. */
export function activeEditorContext(): EditorContext {
  const active = vscode.window.activeTextEditor;
  const editor = active === undefined || active.document.uri.scheme === "comment" ? lastFileEditor() : active; // a box that has just closed
  return editor === undefined ? { description: "" } : contextOf(editor.document, editor.selection);
}

export function contextOf(document: vscode.TextDocument, range: vscode.Range): EditorContext {
  const name = vscode.workspace.asRelativePath(document.uri).split(/[/\\]/).at(-1) ?? "";
  const description = range.isEmpty ? "" : `${describeLines(range)} of ${name}`;
  if (document.uri.scheme !== "file") {
    return { description, text: document.getText(range) };
  }
  const { start, end } = range;
  const textDocument = { uri: document.uri.toString(), version: document.version };
  return { description, textDocument, range: new vscode.Range(start, end) };
}

/** The same place, extended to whole lines. */
export function wholeLines(place: EditorContext): EditorContext {
  const { range, textDocument } = place;
  if (range === undefined || range.isEmpty || textDocument === undefined) {
    return place;
  }
  const { start, end } = range;
  const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === textDocument.uri);
  const last = end.character === 0 && end.line > start.line ? end : (document?.lineAt(end.line).range.end ?? end);
  return { ...place, range: new vscode.Range(start.with({ character: 0 }), last) };
}

function describeLines({ start, end }: vscode.Range): string {
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return last === start.line + 1 ? `line ${last}` : `lines ${start.line + 1} to ${last}`;
}

/** VS Code writes its own ranges as lists. */
export function protocolRange({ start, end }: vscode.Range): Range {
  return { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
}
