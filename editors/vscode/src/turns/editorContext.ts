/** The file and the selection that a turn is about, at the moment the user starts it. */

import * as vscode from "vscode";
import type { Range } from "../model/protocol";

export interface EditorContext {
  /** "lines 3 to 5 of prices.py"; empty if nothing is selected. */
  readonly description: string;
  readonly textDocument?: { readonly uri: string; readonly version: number };
  readonly range?: Range;
  /** The selected text, if the document is not a file on disk. */
  readonly text?: string;
}

/** From the editor that has the focus, or had it last. */
export function activeEditorContext(): EditorContext {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return { description: "" };
  }
  const { document, selection } = editor;
  const name = vscode.workspace.asRelativePath(document.uri).split(/[/\\]/).at(-1) ?? "";
  const words = selection.isEmpty ? "" : `${describeLines(selection)} of ${name}`;
  if (document.uri.scheme !== "file") {
    return { description: words, text: document.getText(selection) };
  }
  const { start, end } = selection;
  return {
    description: words,
    textDocument: { uri: document.uri.toString(), version: document.version },
    range: {
      start: { line: start.line, character: start.character },
      end: { line: end.line, character: end.character },
    },
  };
}

function describeLines({ start, end }: vscode.Selection): string {
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return last === start.line + 1 ? `line ${last}` : `lines ${start.line + 1} to ${last}`;
}
