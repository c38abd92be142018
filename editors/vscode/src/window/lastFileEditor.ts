/** The file editor that has the focus, or had it last before the chat, a diff or the output got it. */

import * as vscode from "vscode";

let last: vscode.TextEditor | undefined;

export function trackLastFileEditor(): vscode.Disposable {
  const note = (editor: vscode.TextEditor | undefined): void => {
    if (editor?.document.uri.scheme === "file") {
      last = editor;
    }
  };
  note(vscode.window.activeTextEditor);
  return vscode.window.onDidChangeActiveTextEditor(note);
}

export function lastFileEditor(): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.scheme === "file") {
    return active;
  }
  return last !== undefined && vscode.window.visibleTextEditors.includes(last) ? last : undefined;
}
