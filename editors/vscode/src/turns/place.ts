/** What a turn is about: the file and the selection at the moment it was asked for, whatever is typed meanwhile. */

import * as vscode from "vscode";
import type { Range } from "../model/protocol";

export interface Place {
  /** "lines 3 to 5 of prices.py"; empty: nothing is selected. */
  readonly words: string;
  readonly textDocument?: { readonly uri: string; readonly version: number };
  readonly range?: Range;
  /** Of what is no file on disk: its words instead of its name. */
  readonly text?: string;
}

/** The editor that has the focus, or had it last. */
export function placeHere(): Place {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return { words: "" };
  }
  const { document, selection } = editor;
  const name = vscode.workspace.asRelativePath(document.uri).split(/[/\\]/).at(-1) ?? "";
  const words = selection.isEmpty ? "" : `${linesOf(selection)} of ${name}`;
  if (document.uri.scheme !== "file") {
    return { words, text: document.getText(selection) };
  }
  const { start, end } = selection;
  return {
    words,
    textDocument: { uri: document.uri.toString(), version: document.version },
    range: {
      start: { line: start.line, character: start.character },
      end: { line: end.line, character: end.character },
    },
  };
}

function linesOf({ start, end }: vscode.Selection): string {
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return last === start.line + 1 ? `line ${last}` : `lines ${start.line + 1} to ${last}`;
}
