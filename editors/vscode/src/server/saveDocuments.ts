/** Saves documents for the server as the user would: formatters run, and changes on disk are not overwritten. */

import * as vscode from "vscode";

/** The answer to `tark/save`: the documents that have no unsaved changes now. */
export async function saveDocuments(uris: readonly string[]): Promise<string[]> {
  const saved: string[] = [];
  for (const uri of uris) {
    const document = openDocument(uri);
    if (document !== undefined && (await isSaved(document))) {
      saved.push(uri);
    }
  }
  return saved;
}

/** If the file has changed on disk, VS Code asks the user first. */
async function isSaved(document: vscode.TextDocument): Promise<boolean> {
  return !document.isDirty || (await document.save());
}

function openDocument(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}
