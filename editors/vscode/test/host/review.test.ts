/** Commands that accept, reject, visit and show changes. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, proposed, run, state, until } from "./window";

let editor: vscode.TextEditor;

setup(async () => {
  editor = await resetWindow();
  await proposed(editor);
});

const text = (): string => editor.document.getText();
const undecided = async (): Promise<number> =>
  [...(await state()).hunks.values()].reduce((sum, { hunks }) => sum + hunks.length, 0);

function goTo(line: number): void {
  editor.selection = new vscode.Selection(line, 0, line, 0);
}

test("acceptHunk: at the cursor", async () => {
  goTo(1);
  await run("acceptHunk");
  assert.match(text(), /TWO[^]*nine/);
  await until("one is left", async () => (await undecided()) === 1);
});

test("rejectHunk: at the cursor", async () => {
  goTo(8);
  await run("rejectHunk");
  await until("one is left", async () => (await undecided()) === 1);
  assert.match(text(), /two[^]*nine/);
});

test("acceptFile, rejectFile: all of the file", async () => {
  await run("acceptFile");
  assert.match(text(), /TWO[^]*NINE/);
  await until("none is left", async () => (await undecided()) === 0);
  editor = await resetWindow();
  await proposed(editor);
  await run("rejectFile");
  await until("none is left", async () => (await undecided()) === 0);
  assert.match(text(), /two[^]*nine/);
});

test("acceptAll, rejectAll: of all files", async () => {
  await run("rejectAll");
  await until("none is left", async () => (await undecided()) === 0);
  assert.match(text(), /two[^]*nine/);
  editor = await resetWindow();
  await proposed(editor);
  await run("acceptAll");
  assert.match(text(), /TWO[^]*NINE/);
});

test("the commands named after applied changes decide in the same way", async () => {
  goTo(1);
  await run("keepHunk");
  assert.match(text(), /TWO[^]*nine/);
  goTo(8);
  await run("undoHunk");
  await until("none is left", async () => (await undecided()) === 0);
  assert.match(text(), /TWO[^]*nine/);
  for (const [name, left] of [["keepFile", /TWO[^]*NINE/], ["undoFile", /two[^]*nine/], ["keepAll", /TWO[^]*NINE/], ["undoAll", /two[^]*nine/]] as const) {
    editor = await resetWindow();
    await proposed(editor);
    await run(name);
    await until("none is left", async () => (await undecided()) === 0);
    assert.match(text(), left, name);
  }
});

test("reviewAll: all changes in the editor of many files", async () => {
  await run("reviewAll");
  await hands.shows(".multiDiffEntry");
});

test("nextHunk, previousHunk", async () => {
  goTo(0);
  const lines: number[] = [];
  for (const command of ["nextHunk", "nextHunk", "previousHunk"]) {
    await run(command);
    lines.push(vscode.window.activeTextEditor!.selection.active.line);
  }
  assert.deepEqual(lines, [1, 8, 1]);
});

test("diff: both texts side by side", async () => {
  goTo(1);
  await run("diff");
  await hands.shows(".monaco-diff-editor, .multiDiffEntry");
});

test("showChanges: the list, with the focus", async () => {
  await run("showChanges");
  await hands.shows('.pane-body .monaco-list-row[aria-label*="numbers.txt"]');
});

test("editHunk: in a document of its own, accepted there", async () => {
  goTo(1);
  await run("editHunk");
  const own = await until("its document", () => {
    const active = vscode.window.activeTextEditor;
    return active?.document.uri.scheme === "tark-hunk" ? active : undefined;
  });
  await own.edit((edit) => edit.replace(new vscode.Range(0, 0, 0, 3), "zwei"));
  await run("acceptHunk");
  await until("the user's line", () => text().includes("zwei"));
});

test("regenerateHunk: with a prompt", async () => {
  goTo(8);
  await run("acceptHunk"); // otherwise the turn would wait for this hunk
  goTo(1);
  const done = run("regenerateHunk");
  await hands.answer("as a roman number");
  await done;
  const { hunks } = await state();
  await until("another hunk", () => hunks.get(editor.document.uri.toString())?.hunks.some(({ newText }) => newText.includes("II")));
});

test("a message says that there is nothing to review", async () => {
  await run("rejectAll");
  await until("none is left", async () => (await undecided()) === 0);
  await run("acceptHunk");
  await hands.sees("nothing to review");
});
