/** "Undo Turn": what it undoes, what it keeps, and which turn it undoes. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, api, begin, ended, proposed, run, state, turns, until } from "./window";

let editor: vscode.TextEditor;

setup(async () => {
  editor = await resetWindow();
});

const text = (): string => editor.document.getText();

test("undo: nothing of another session", async () => {
  await proposed(editor);
  await run("acceptAll");
  await until("both lines", () => /TWO[^]*NINE/.test(text()));
  const { sessionId } = await begin("what is it?");
  (await state()).setCurrentSession(sessionId);
  await ended();
  const seen = hands.sees("there is nothing to undo"); // started before the command, because the notification closes by itself
  await run("undo");
  await seen;
  assert.match(text(), /TWO[^]*NINE/);
});

test("undo: the changes of the last turn", async () => {
  const before = text();
  await proposed(editor);
  await run("acceptAll");
  await until("both lines", () => /TWO[^]*NINE/.test(text()));
  await vscode.commands.executeCommand("workbench.action.closeSidebar"); // a visible chat says it itself
  await until("its edits are reported", async () => [...(await state()).transcripts.values()].some((transcript) => transcript.turns.some((turn) => turn.edits?.length)));
  await run("undo");
  await until("the former text", () => text() === before);
  await hands.sees("undid “upper two and nine” in numbers.txt");
  await run("approvePlan");
  await hands.sees("there is no plan");
});

/** Two turns that changed something: line 5, then lines 2 and 9. */
async function twoTurns(): Promise<void> {
  await begin("upper five");
  await until("a hunk", async () => (await state()).hunks.size > 0);
  await run("acceptAll");
  await until("its line", () => text().includes("FIVE"));
  await allEnded();
  await proposed(editor);
  await run("acceptAll");
  await until("both lines", () => /TWO[^]*NINE/.test(text()));
  await allEnded();
}

async function allEnded(): Promise<void> {
  const known = await state();
  await until("their end", () => turns(known).every((turn) => turn.state === "ended"));
}

async function write(line: number, words: string): Promise<void> {
  await editor.edit((edit) => edit.replace(editor.document.lineAt(line).range, words));
}

test("undo: what it kept it keeps again, and does not go on to the turn before", async () => {
  await twoTurns();
  await write(1, "zwei");
  await run("undo");
  await hands.sees("kept numbers.txt: ");
  await vscode.commands.executeCommand("notifications.clearAll");
  await write(1, "TWO");
  await run("undo");
  await hands.sees("kept numbers.txt: ");
  assert.equal(editor.document.lineAt(1).text, "TWO");
  assert.equal(editor.document.lineAt(4).text, "FIVE");
});

test("undo: a button skips kept changes", async () => {
  await twoTurns();
  await write(1, "zwei");
  await run("undo");
  await hands.clicks("kept numbers.txt: ", "Undo Previous Turn");
  await until("the turn before", () => editor.document.lineAt(4).text === "five");
  assert.equal(editor.document.lineAt(1).text, "zwei");
});

test("undo: names changes that wait for review and keeps the turn before; accepted changes can be undone", async () => {
  await twoTurns();
  const { server } = await api();
  await server.executeCommand("tark.turn.start", { prompt: "propose ten", mode: "plan", noDocument: true });
  await until("a hunk", () => server.state.hunks.size > 0);
  await allEnded();
  await run("undo");
  await hands.sees("“propose ten”: 1 change still waits for your review");
  assert.match(text(), /TWO[^]*NINE/);
  await run("acceptAll");
  await until("its line", () => text().includes("TEN"));
  await run("undo");
  await until("the line is as it was", () => editor.document.lineAt(9).text === "ten");
  assert.match(text(), /TWO[^]*NINE/);
});
