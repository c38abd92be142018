/** Commands that choose a model, a mode, an approval level, and give a key. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, api, begin, ended, proposed, run, state, until } from "./window";

setup(() => anew());

for (const [command, setting, row] of [
  ["selectModel", "model", "own/big"],
  ["selectMode", "mode", "plan"],
  ["selectApproval", "approval", "manual"],
] as const) {
  test(`${command}: of new sessions, where none goes on, and for the next server, too`, async () => {
    const { client } = await api();
    const former = client.processId;
    const done = run(command);
    await hands.choose(row);
    await done;
    await hands.sees("of new sessions is " + row);
    assert.equal(client.processId, former); // it was told
    await run("restart");
    assert.notEqual(client.processId, former);
    await until("its settings", async () => (await state()).settings?.[setting]?.startsWith(row));
    const second = client.processId;
    await vscode.workspace.getConfiguration("tark").update(setting, undefined, vscode.ConfigurationTarget.Global);
    await until("the settings before", () => client.running && client.processId !== second);
  });
}

test("selectMode: of the session that goes on", async () => {
  const known = await state();
  const { sessionId } = await begin("what is it?");
  known.goOn(sessionId);
  await ended();
  const done = run("selectMode");
  await hands.choose("plan");
  await done;
  await hands.sees("mode of this session is plan");
  assert.deepEqual([known.sessions.get(sessionId)?.mode, known.settings?.mode], ["plan", "build"]);
});

test("setKey: kept by VS Code, and handed to another server by its environment; taken away again", async () => {
  const { client } = await api();
  const former = client.processId;
  const done = run("setKey");
  await hands.choose("groq");
  await hands.answer("gsk-of-the-test", "API key of groq");
  await done;
  await until("another server", () => client.running && client.processId !== former);
  assert.equal(await status("groq"), "ready");
  const gone = run("setKey");
  await hands.choose("groq");
  await hands.choose("Remove the Key");
  await gone;
  await until("without the key", async () => client.running && (await status("groq")) !== "ready");
});

test("logout: of what is stored; a key that VS Code keeps is told of", async () => {
  const { client } = await api();
  const former = client.processId;
  const key = run("setKey");
  await hands.choose("deepseek");
  await hands.answer("of-the-test", "API key of deepseek");
  await key;
  await until("another server", () => client.running && client.processId !== former);
  const done = run("logout");
  await hands.choose("deepseek");
  await done;
  await hands.sees("no login of deepseek was stored; VS Code keeps a key of it");
  const second = client.processId;
  const gone = run("setKey");
  await hands.choose("deepseek");
  await hands.choose("Remove the Key");
  await gone;
  await until("without the key", () => client.running && client.processId !== second);
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

test("auto save is no acceptance of what was applied unasked", async () => {
  const { client } = await api();
  const wanted = [
    ["tark", "editReview", "after"],
    ["tark", "saveAfterEdit", false],
    ["files", "autoSave", "afterDelay"],
    ["files", "autoSaveDelay", 50],
  ] as const;
  const set = async (isOn: boolean): Promise<void> => {
    const former = client.processId;
    for (const [section, key, value] of wanted) {
      const settings = vscode.workspace.getConfiguration(section);
      await settings.update(key, isOn ? value : undefined, vscode.ConfigurationTarget.Global);
    }
    await until("another server", () => client.running && client.processId !== former);
  };
  await set(true);
  try {
    const editor = await anew();
    await proposed(editor);
    await until("it is saved by itself", () => editor.document.getText().includes("NINE") && !editor.document.isDirty);
    const { hunks } = await client.command<{ hunks: { state: string }[] }>("tark.hunk.list", {});
    assert.deepEqual(hunks.map((hunk) => hunk.state), ["pending", "pending"]);
  } finally {
    await set(false);
  }
});
