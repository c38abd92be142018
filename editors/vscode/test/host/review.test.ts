/** Commands that decide on changes, go from one to the next, and show them. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, proposed, run, state, until } from "./window";

let editor: vscode.TextEditor;

setup(async () => {
  editor = await anew();
  await proposed(editor);
});

const text = (): string => editor.document.getText();
const undecided = async (): Promise<number> =>
  [...(await state()).hunks.values()].reduce((sum, { hunks }) => sum + hunks.length, 0);

function goTo(line: number): void {
  editor.selection = new vscode.Selection(line, 0, line, 0);
}

test("acceptHunk: the one at the cursor", async () => {
  goTo(1);
  await run("acceptHunk");
  assert.match(text(), /TWO[^]*nine/);
  await until("one is left", async () => (await undecided()) === 1);
});

test("rejectHunk: the one at the cursor", async () => {
  goTo(8);
  await run("rejectHunk");
  await until("one is left", async () => (await undecided()) === 1);
  assert.match(text(), /two[^]*nine/);
});

test("acceptFile, rejectFile: all of the file", async () => {
  await run("acceptFile");
  assert.match(text(), /TWO[^]*NINE/);
  await until("none is left", async () => (await undecided()) === 0);
  editor = await anew();
  await proposed(editor);
  await run("rejectFile");
  await until("none is left", async () => (await undecided()) === 0);
  assert.match(text(), /two[^]*nine/);
});

test("acceptAll, rejectAll: of all files", async () => {
  await run("rejectAll");
  await until("none is left", async () => (await undecided()) === 0);
  assert.match(text(), /two[^]*nine/);
  editor = await anew();
  await proposed(editor);
  await run("acceptAll");
  assert.match(text(), /TWO[^]*NINE/);
});

test("nextHunk, previousHunk: round and round", async () => {
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
  await until("the person's line", () => text().includes("zwei"));
});

test("regenerateHunk: in the words of the person", async () => {
  goTo(8);
  await run("acceptHunk"); // a turn that waits for the other one would hold it up
  goTo(1);
  const done = run("regenerateHunk");
  await hands.answer("as a roman number");
  await done;
  const { hunks } = await state();
  await until("another hunk", () => hunks.get(editor.document.uri.toString())?.hunks.some(({ newText }) => newText.includes("II")));
});

test("nothing to decide on is said", async () => {
  await run("rejectAll");
  await until("none is left", async () => (await undecided()) === 0);
  await run("acceptHunk");
  await hands.sees("nothing to review");
});
