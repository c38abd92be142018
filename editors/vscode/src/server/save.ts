/** Saves documents for the server, as the person's own save would: with their formatters, and never over another's text. */

import * as vscode from "vscode";

/** The answer to `tark/save`: which of them have no unsaved changes now. */
export async function save(uris: readonly string[]): Promise<string[]> {
  const saved: string[] = [];
  for (const uri of uris) {
    const document = openDocument(uri);
    if (document !== undefined && (await isSaved(document))) {
      saved.push(uri);
    }
  }
  return saved;
}

/** VS Code asks the person where the file has changed on disk, and leaves it alone until they have said so. */
async function isSaved(document: vscode.TextDocument): Promise<boolean> {
  return !document.isDirty || (await document.save());
}

function openDocument(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}
