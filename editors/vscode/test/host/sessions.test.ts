/** Commands of sessions: begun, chosen, named, forked, written to a file and read from one, made shorter, deleted. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { setup, suiteSetup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, api, begin, ended, pathOf, run, state, until } from "./window";

let sessionId: string;

suiteSetup(async () => {
  await anew();
  ({ sessionId } = await begin("what is this session about"));
  (await state()).goOn(sessionId);
  await ended();
});

setup(async () => {
  await anew();
  (await state()).goOn(sessionId);
});

test("chat, newSession: the chat with the focus, and what is said next begins a session", async () => {
  await run("chat");
  await hands.shows("iframe.webview.ready");
  await run("newSession");
  assert.equal((await state()).sessionId, undefined);
});

test("sessions: the one that is chosen goes on", async () => {
  (await state()).goOn(undefined);
  const done = run("sessions");
  await hands.choose("what is this session about");
  await done;
  assert.equal((await state()).sessionId, sessionId);
});

test("renameSession: by the title that is typed", async () => {
  const done = run("renameSession");
  await hands.choose("what is this session about");
  await hands.answer("of numbers", "Title of the session");
  await done;
  assert.equal((await state()).sessions.get(sessionId)?.title, "of numbers");
});

test("forkSession: another one with the same past", async () => {
  const done = run("forkSession");
  await hands.choose("of numbers");
  await done;
  const known = await state();
  assert.notEqual(known.sessionId, sessionId);
  assert.equal(known.transcripts.get(known.sessionId!)?.turns[0]?.prompt, "what is this session about");
});

test("exportSession, importSession: by way of a file", async () => {
  const exported = run("exportSession");
  await hands.choose("of numbers");
  await hands.choose("JSON");
  await exported;
  await hands.clicks("exported to", "Open");
  const file = await until("the file", () => {
    const name = vscode.window.activeTextEditor?.document.fileName;
    return name?.endsWith(".json") ? name : undefined;
  });
  assert.match(readFileSync(file, "utf8"), /what is this session about/);
  const done = run("importSession");
  await hands.answer(file);
  await done;
  const known = await state();
  assert.notEqual(known.sessionId, sessionId);
  assert.equal(known.transcripts.get(known.sessionId!)?.turns[0]?.prompt, "what is this session about");
});

test("compact: the session has fewer tokens, or says why not", async () => {
  await run("compact");
  await hands.sees("Tark:");
  (await state()).goOn(undefined);
  await vscode.commands.executeCommand("notifications.clearAll");
  await run("compact");
  await hands.sees("there is no session yet");
});

test("deleteSession: only after a question", async () => {
  const kept = run("deleteSession");
  await hands.choose("of numbers");
  await hands.shows(".monaco-dialog-box");
  await hands.press("Escape");
  await kept;
  const sessions = async (): Promise<string[]> => {
    const { server } = await api();
    const listed = await server.command<{ sessions: { sessionId: string }[] }>("tark.session.list");
    return listed.sessions.map((each) => each.sessionId);
  };
  const before = await sessions();
  const done = run("deleteSession");
  await hands.choose("of numbers");
  await hands.shows(".monaco-dialog-box");
  await hands.press("Enter");
  await done;
  assert.equal((await sessions()).length, before.length - 1);
  assert.equal(existsSync(pathOf("numbers.txt")), true);
});
