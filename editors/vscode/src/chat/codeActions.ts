/** Copies a code block, inserts it at the cursor, opens it in a new file. */

import * as vscode from "vscode";
import { type CodeBlock, languageId, readBlock } from "../text/codeBlocks";
import { fitToCursor } from "../text/insertion";
import { lastFileEditor } from "../window/lastFileEditor";
import { showWarning } from "../window/notify";
import { folderPaths } from "./editors";
import { newFileInFolders } from "./workspaceFiles";

export async function copyCode(text: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
}

/** Replaces the selections, as one undo step, with the indentation of their lines. The editor gets the focus. */
export async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? lastFileEditor();
  if (editor === undefined) {
    await showWarning("open a file to insert the code");
    return;
  }
  const { document, viewColumn } = editor;
  const done = await editor.edit((edit) => {
    for (const selection of editor.selections) {
      const before = document.lineAt(selection.start).text.slice(0, selection.start.character);
      const after = document.lineAt(selection.end).text.slice(selection.end.character);
      edit.replace(selection, fitToCursor(text, before, after));
    }
  });
  if (!done) {
    await showWarning("the code could not be inserted: the file cannot be edited");
    return;
  }
  await vscode.window.showTextDocument(document, viewColumn);
}

/** Opens an unsaved document with the language of the block, at the path that the block names if no such file exists yet. */
export async function openAsNewFile(block: CodeBlock): Promise<void> {
  const read = readBlock(block);
  const file = read.path === undefined ? undefined : await newFileInFolders(folderPaths(), read.path);
  if (file !== undefined) {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file).with({ scheme: "untitled" }));
    if (document.getText() === "") {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), read.text);
      await vscode.workspace.applyEdit(edit);
    }
    await vscode.window.showTextDocument(document);
    return;
  }
  const id = languageId(read);
  const known = (await vscode.languages.getLanguages()).includes(id);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: read.text, ...(known && { language: id }) }));
}
