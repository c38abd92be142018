/** Commands that start turns and end them. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, begin, ended, run, said, select, state, until } from "./window";

let editor: vscode.TextEditor;

setup(async () => {
  editor = await anew();
});

test("edit: the selection, in the words of the person", async () => {
  select(editor, 2, 3);
  const done = run("edit");
  await hands.answer("make it shorter");
  await done;
  await until("a hunk", async () => (await state()).hunks.size > 0);
  await run("acceptAll");
  assert.equal((await ended()).turnKind, "edit");
  assert.equal(editor.document.lineAt(2).text, "short");
});

test("agent: all of its tools", async () => {
  const done = run("agent");
  await hands.answer("upper two and nine");
  await done;
  await until("two hunks", async () => [...(await state()).hunks.values()][0]?.hunks.length === 2);
  await run("acceptAll");
  assert.equal((await ended()).turnKind, "agent");
  assert.match(editor.document.getText(), /TWO[^]*NINE/);
});

test("ask: an answer in words", async () => {
  const done = run("ask");
  await hands.answer("what is it?");
  await done;
  const turn = await ended();
  assert.deepEqual([turn.turnKind, turn.prompt, said(turn)], ["ask", "what is it?", "Hello from the script."]);
});

for (const kind of ["explain", "fix", "test", "document"]) {
  test(`${kind}: asks for no words`, async () => {
    select(editor, 2, 4);
    await run(kind);
    assert.equal((await ended()).turnKind, kind);
  });
}

test("prompt: a named one, about the selection", async () => {
  select(editor, 2, 4);
  const done = run("prompt");
  await hands.choose("/haiku");
  await done;
  assert.equal((await ended()).turnKind, "haiku");
});

test("the light bulb goes on with the session, and an answer that nobody sees is told", async () => {
  await vscode.commands.executeCommand("workbench.action.closeSidebar");
  const known = await state();
  const { sessionId } = await begin("what is it?");
  known.goOn(sessionId);
  await ended();
  const place = new vscode.Range(2, 0, 3, 0);
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", editor.document.uri, place);
  const explain = actions.find(({ title }) => title.startsWith("Explain"))!;
  await vscode.commands.executeCommand(explain.command!.command, ...(explain.command!.arguments as unknown[]));
  await until("its turn", () => known.transcripts.get(sessionId)?.turns.at(-1)?.turnKind === "explain");
  await hands.sees("answered without a change");
});

test("a box that was left has what was typed when it opens again", async () => {
  const left = run("ask");
  await hands.shows(".quick-input-widget input");
  await hands.type("what is it");
  await hands.press("Escape");
  await left;
  assert.equal((await state()).sessionId, undefined);
  const done = run("ask");
  await hands.shows(".quick-input-widget input");
  await hands.press("End");
  await hands.press("?");
  await hands.press("Enter");
  await done;
  assert.equal((await ended()).prompt, "what is it?");
});

test("stop: the turns of this session", async () => {
  const { sessionId } = await begin("talk for ever");
  (await state()).goOn(sessionId);
  await run("stop");
  assert.equal((await ended()).stopReason, "cancelled");
  await run("stop");
  await hands.sees("nothing is running");
});

test("stopAll: also those of other sessions", async () => {
  const { sessionId, turnId } = await begin("talk for ever");
  await until("it runs", async () => (await state()).transcripts.get(sessionId)?.byId.get(turnId)?.state === "running");
  await run("stop");
  await hands.sees("nothing is running in this session");
  await run("stopAll");
  (await state()).goOn(sessionId);
  assert.equal((await ended()).stopReason, "cancelled");
});
