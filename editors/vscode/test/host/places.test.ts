/** Where no file on disk is: an untitled document, a cell of a notebook, a virtual document; and one that is too large. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, ended, open, run, said, state } from "./window";

setup(() => anew());

async function asksAboutTheMagicWord(): Promise<void> {
  const done = run("ask");
  await hands.answer("echo what I selected");
  await done;
  assert.equal(said(await ended()), "You selected: the magic word");
}

async function cannotBeEdited(): Promise<void> {
  await run("edit");
  await hands.sees("only a file on disk can be changed, and this is none: save it first");
  await vscode.commands.executeCommand("notifications.clearAll");
}

test("an untitled document: what is selected goes along, and it cannot be edited", async () => {
  const document = await vscode.workspace.openTextDocument({ content: "the magic word\nis not this\n" });
  const editor = await vscode.window.showTextDocument(document);
  editor.selection = new vscode.Selection(0, 0, 0, 14);
  await asksAboutTheMagicWord();
  await cannotBeEdited();
  assert.equal(document.getText(), "the magic word\nis not this\n");
});

test("a cell of a notebook: likewise", async () => {
  const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "the magic word", "python");
  const notebook = await vscode.workspace.openNotebookDocument("jupyter-notebook", new vscode.NotebookData([cell]));
  await vscode.window.showNotebookDocument(notebook);
  const editor = await vscode.window.showTextDocument(notebook.cellAt(0).document);
  editor.selection = new vscode.Selection(0, 0, 0, 14);
  await asksAboutTheMagicWord();
  await cannotBeEdited();
});

test("a virtual document: likewise", async () => {
  const provider = vscode.workspace.registerTextDocumentContentProvider("tark-test", { provideTextDocumentContent: () => "the magic word" });
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse("tark-test:/words.txt"));
  const editor = await vscode.window.showTextDocument(document);
  editor.selection = new vscode.Selection(0, 0, 0, 14);
  await asksAboutTheMagicWord();
  await cannotBeEdited();
  provider.dispose();
});

test("no editor at all: a kind that points at something says so, others need none", async () => {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await run("explain");
  await hands.sees("open a file first, and select what it is about");
  const done = run("ask");
  await hands.answer("hello");
  await done;
  assert.equal((await ended()).stopReason, "end_turn");
});

test("a file of more than 10 MB is refused in words, and what was typed is kept", async () => {
  const line = `${"x".repeat(99)}\n`;
  const editor = await open("huge.txt", line.repeat(110_000));
  editor.selection = new vscode.Selection(0, 0, 1, 0);
  const done = run("edit");
  await hands.answer("make it shorter");
  await done;
  await hands.sees("Your words are kept for the next time you ask");
  const again = run("edit");
  await hands.shows(".quick-input-widget input");
  await hands.press("Enter"); // which an empty box would not take
  await again;
  assert.equal((await state()).hunks.size, 0);
});
