/** Documents that are not files on disk: untitled, notebook cell, virtual. And a file that is too large. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, ended, open, run, said, state } from "./window";

setup(() => resetWindow());

async function asksAboutTheMagicWord(): Promise<void> {
  const done = run("ask");
  await hands.answer("echo what I selected");
  await done;
  assert.equal(said(await ended()), "You selected: the magic word");
}

async function cannotBeEdited(): Promise<void> {
  await run("edit");
  await hands.sees("only files on disk can be edited: save this document first");
  await vscode.commands.executeCommand("notifications.clearAll");
}

test("an untitled document: the selection is sent, and it cannot be edited", async () => {
  const document = await vscode.workspace.openTextDocument({ content: "the magic word\nis not this\n" });
  const editor = await vscode.window.showTextDocument(document);
  editor.selection = new vscode.Selection(0, 0, 0, 14);
  await asksAboutTheMagicWord();
  await cannotBeEdited();
  assert.equal(document.getText(), "the magic word\nis not this\n");
});

test("a notebook cell: the same", async () => {
  const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "the magic word", "python");
  const notebook = await vscode.workspace.openNotebookDocument("jupyter-notebook", new vscode.NotebookData([cell]));
  await vscode.window.showNotebookDocument(notebook);
  const editor = await vscode.window.showTextDocument(notebook.cellAt(0).document);
  editor.selection = new vscode.Selection(0, 0, 0, 14);
  await asksAboutTheMagicWord();
  await cannotBeEdited();
});

test("a virtual document: the same", async () => {
  const provider = vscode.workspace.registerTextDocumentContentProvider("tark-test", { provideTextDocumentContent: () => "the magic word" });
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse("tark-test:/words.txt"));
  const editor = await vscode.window.showTextDocument(document);
  editor.selection = new vscode.Selection(0, 0, 0, 14);
  await asksAboutTheMagicWord();
  await cannotBeEdited();
  provider.dispose();
});

test("without an editor, a kind that needs code says so; others work", async () => {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await run("explain");
  await hands.sees("open a file and select the code first");
  const done = run("ask");
  await hands.answer("hello");
  await done;
  assert.equal((await ended()).stopReason, "end_turn");
});

test("a file larger than 10 MB is rejected with a message, and the prompt is kept", async () => {
  const line = `${"x".repeat(99)}\n`;
  const editor = await open("huge.txt", line.repeat(110_000));
  editor.selection = new vscode.Selection(0, 0, 1, 0);
  const done = run("edit");
  await hands.inline("make it shorter");
  await done;
  await hands.sees("your prompt is kept for the next attempt");
  const again = run("edit");
  await hands.inline("", "Enter", "make it shorter"); // an empty box would not be sent
  await again;
  assert.equal((await state()).hunks.size, 0);
});
