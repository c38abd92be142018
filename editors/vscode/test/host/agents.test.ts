/** The custom agent of a session: an offer of the workspace is shown whole, approved and chosen; then none again. */

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setup, teardown, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { begin, ended, pathOf, resetWindow, run, state, until } from "./window";

setup(() => resetWindow());

teardown(() => {
  rmSync(pathOf(".tark/agents"), { recursive: true, force: true });
});

test("selectAgent: an offer is approved first, and its model, mode and level are those of the session", async () => {
  const known = await state();
  const { sessionId } = await begin("what is it?");
  known.setCurrentSession(sessionId);
  await ended();
  mkdirSync(pathOf(".tark/agents"), { recursive: true });
  writeFileSync(pathOf(".tark/agents/theirs.md"), "---\nmode: ask\nmodel: scripted/small\n---\nYou are theirs.\n");
  const chosen = run("selectAgent");
  await hands.choose("theirs");
  await chosen;
  const document = await until("its file", () => {
    const shown = vscode.window.activeTextEditor?.document;
    return shown?.uri.scheme === "tark-offer" && shown.getText().includes("You are theirs.") ? shown : undefined;
  });
  assert.match(document.getText(), /at most ask and balanced/);
  assert.equal(known.sessions.get(sessionId)?.agent ?? null, null);
  await run("mcpYes");
  await until("the agent", () => known.sessions.get(sessionId)?.agent === "theirs");
  assert.deepEqual(known.sessions.get(sessionId)?.effective, { model: "scripted/small", mode: "ask", approval: "careful" });
  const left = run("selectAgent");
  await hands.choose("None");
  await left;
  await until("no agent", () => known.sessions.get(sessionId)?.agent == null);
  assert.equal(known.sessions.get(sessionId)?.effective ?? null, null);
});
