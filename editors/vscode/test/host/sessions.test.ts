/** Commands of sessions: begun, chosen, named, forked, written to a file, made shorter. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setup, suiteSetup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, begin, ended, run, state, until } from "./window";

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

test("exportSession: to a file that opens", async () => {
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

test("showContext: what the next prompt is sent with", async () => {
  await run("showContext");
  assert.match(vscode.window.activeTextEditor?.document.getText() ?? "", /^ +all +\d+ tokens$/m);
  (await state()).goOn(undefined);
  await run("showContext");
  await hands.sees("there is no session yet: the next prompt begins one");
});

test("compact: says why there is nothing to gain", async () => {
  await run("compact");
  await hands.sees("the session is as it was: summing up what was said before would free too little");
  (await state()).goOn(undefined);
  await vscode.commands.executeCommand("notifications.clearAll");
  await run("compact");
  await hands.sees("there is no session yet");
});
