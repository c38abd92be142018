/** Commands that choose a model, a mode or an approval level, and set keys. */

import assert from "node:assert/strict";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, api, begin, ended, proposed, run, state, until } from "./window";

setup(() => resetWindow());

for (const [command, setting, row] of [
  ["selectModel", "model", "own/big"],
  ["selectMode", "mode", "plan"],
  ["selectApproval", "approval", "manual"],
] as const) {
  test(`${command}: for new sessions if none is current, also after a restart`, async () => {
    const { client } = await api();
    const former = client.processId;
    const done = run(command);
    await hands.choose(row);
    await done;
    await until("the setting", async () => (await state()).settings?.[setting] === row);
    assert.equal(client.processId, former); // no restart
    await run("restart");
    assert.notEqual(client.processId, former);
    await until("its settings", async () => (await state()).settings?.[setting]?.startsWith(row));
    const second = client.processId;
    await vscode.workspace.getConfiguration("tark").update(setting, undefined, vscode.ConfigurationTarget.Global);
    await until("the settings before", () => client.running && client.processId !== second);
  });
}

test("selectMode: for the current session", async () => {
  const known = await state();
  const { sessionId } = await begin("what is it?");
  known.setCurrentSession(sessionId);
  await ended();
  const done = run("selectMode");
  await hands.choose("plan");
  await done;
  assert.deepEqual([known.sessions.get(sessionId)?.mode, known.settings?.mode], ["plan", "build"]);
});

test("setKey: stored by VS Code, passed to a restarted server, and removed again", async () => {
  const { client } = await api();
  const former = client.processId;
  const done = run("setKey");
  await hands.choose("groq");
  await hands.answer("gsk-of-the-test", "API Key of groq");
  await done;
  await until("another server", () => client.running && client.processId !== former);
  assert.equal(await status("groq"), "ready");
  const gone = run("setKey");
  await hands.choose("groq");
  await hands.choose("Remove Key");
  await gone;
  await until("without the key", async () => client.running && (await status("groq")) !== "ready");
});

test("logout: of what the server stores; warns of a key in VS Code", async () => {
  const { client } = await api();
  const former = client.processId;
  const key = run("setKey");
  await hands.choose("deepseek");
  await hands.answer("of-the-test", "API Key of deepseek");
  await key;
  await until("another server", () => client.running && client.processId !== former);
  const done = run("logout");
  await hands.choose("deepseek");
  await done;
  await hands.sees("no login of deepseek was stored; VS Code still keeps an API key of it");
  const second = client.processId;
  const gone = run("setKey");
  await hands.choose("deepseek");
  await hands.choose("Remove Key");
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
  return (await server.executeCommand<{ status: string }>("tark.auth.status", { provider })).status;
}

test("auto save does not accept edits that were applied at once", async () => {
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
    const editor = await resetWindow();
    await proposed(editor);
    await until("it is saved by itself", () => editor.document.getText().includes("NINE") && !editor.document.isDirty);
    const { hunks } = await client.executeCommand<{ hunks: { state: string }[] }>("tark.hunk.list", {});
    assert.deepEqual(hunks.map((hunk) => hunk.state), ["pending", "pending"]);
  } finally {
    await set(false);
  }
});

test("generateCommitMessage: says that Git is not enabled; stopCommitMessage has nothing to stop", async () => {
  await run("generateCommitMessage");
  await hands.sees("Git is not enabled in this window");
  await run("stopCommitMessage");
});
