/** Commands that choose a model, a mode, an approval level, and give a key. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, api, run, state, until } from "./window";

setup(() => anew());

test("selectModel: of those the providers tell of", async () => {
  const done = run("selectModel");
  await hands.choose("scripted/");
  await done;
  await hands.sees("model of new sessions is scripted/");
});

test("selectMode: of new sessions, where none goes on", async () => {
  const done = run("selectMode");
  await hands.choose("plan");
  await done;
  assert.equal((await state()).settings?.mode, "plan");
  await hands.sees("mode of new sessions is plan");
  const back = run("selectMode");
  await hands.choose("build");
  await back;
});

test("selectApproval: a level that is no more than the person's", async () => {
  const done = run("selectApproval");
  await hands.choose("manual");
  await done;
  assert.equal((await state()).settings?.approval, "manual");
  const back = run("selectApproval");
  await hands.choose("careful");
  await back;
});

test("setKey: kept by VS Code, and handed to another server by its environment; taken away again", async () => {
  const { client } = await api();
  const former = client.processId;
  const done = run("setKey");
  await hands.choose("groq");
  await hands.answer("gsk-of-the-test");
  await done;
  await until("another server", () => client.running && client.processId !== former);
  assert.equal(await status("groq"), "ready");
  const gone = run("setKey");
  await hands.choose("groq");
  await hands.answer("");
  await gone;
  await until("without the key", async () => client.running && (await status("groq")) !== "ready");
});

test("login: a provider that takes a key asks for it", async () => {
  const done = run("login");
  await hands.choose("anthropic");
  await hands.shows('.quick-input-widget input[type="password"]');
  await hands.press("Escape");
  await done;
});

async function status(provider: string): Promise<string> {
  const { server } = await api();
  return (await server.command<{ status: string }>("tark.auth.status", { provider })).status;
}

test("what cannot be is said: a mode of a session that is not there", async () => {
  (await state()).goOn("no such session");
  const done = run("selectMode");
  await hands.choose("plan");
  await done;
  await hands.sees("no such session");
  await vscode.commands.executeCommand("notifications.clearAll");
});
