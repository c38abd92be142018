/** Session commands: start, choose, rename, fork, export, compact. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setup, suiteSetup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, begin, ended, run, state, until } from "./window";

let sessionId: string;

suiteSetup(async () => {
  await resetWindow();
  ({ sessionId } = await begin("what is this session about"));
  (await state()).setCurrentSession(sessionId);
  await ended();
});

setup(async () => {
  await resetWindow();
  (await state()).setCurrentSession(sessionId);
});

test("chat, newSession: the chat gets the focus, and the next prompt starts a session", async () => {
  await run("chat");
  await hands.shows("iframe.webview.ready");
  await run("newSession");
  assert.equal((await state()).sessionId, undefined);
});

test("sessions: the chosen one becomes current", async () => {
  (await state()).setCurrentSession(undefined);
  const done = run("sessions");
  await hands.choose("what is this session about");
  await done;
  assert.equal((await state()).sessionId, sessionId);
});

test("renameSession: to the typed title", async () => {
  const done = run("renameSession");
  await hands.choose("what is this session about");
  await hands.answer("of numbers", "Session Title");
  await done;
  assert.equal((await state()).sessions.get(sessionId)?.title, "of numbers");
});

test("forkSession: a new session with the same history", async () => {
  const done = run("forkSession");
  await hands.choose("of numbers");
  await done;
  const known = await state();
  assert.notEqual(known.sessionId, sessionId);
  assert.equal(known.transcripts.get(known.sessionId!)?.turns[0]?.prompt, "what is this session about");
});

test("exportSession: to a file, which opens", async () => {
  const exported = run("exportSession");
  await hands.choose("of numbers");
  await hands.choose("JSON");
  await hands.clicks("exported to", "Open");
  await exported;
  const file = await until("the file", () => {
    const name = vscode.window.activeTextEditor?.document.fileName;
    return name?.endsWith(".json") ? name : undefined;
  });
  assert.match(readFileSync(file, "utf8"), /what is this session about/);
});

test("showContext: a page, once", async () => {
  const pages = (): number => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ label }) => label === "Tark Context").length;
  await run("showContext");
  await until("the page", () => pages() === 1);
  await run("showContext");
  assert.equal(pages(), 1);
});

test("compact: says why it would not help", async () => {
  await run("compact");
  await hands.sees("the session is unchanged: a summary of the earlier messages would free too little");
  (await state()).setCurrentSession(undefined);
  await vscode.commands.executeCommand("notifications.clearAll");
  await run("compact");
  await hands.sees("there is no session yet");
});

test("chatInEditor, chatInNewTab: chats in tabs, each with its own session; commands are about the one used last", async () => {
  const known = await state();
  const side = known.place;
  await run("chatInEditor");
  assert.deepEqual([side.sessionId, known.sessionId], [undefined, sessionId]);
  await run("chatInNewTab");
  assert.equal(known.places.size, 3);
  assert.equal(known.sessionId, undefined);
  known.setCurrentSession(sessionId);
  assert.equal(known.sessionId, sessionId, "it is shown where it is open");
  assert.equal([...known.places].filter((place) => place.sessionId === sessionId).length, 1);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await until("the tabs are closed", () => known.places.size === 1);
  assert.equal(known.place, side);
});
