/** Commands that show pending requests. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, begin, ended, pathOf, run, said, state, until } from "./window";

setup(() => resetWindow());

async function asks(prompt: string, kind: "permissions" | "inputs"): Promise<void> {
  const known = await state();
  const { sessionId } = await begin(prompt);
  known.setCurrentSession(sessionId);
  await until("it asks", () => known[kind].length > 0);
}

test("permission: shown whole in an editor, with its answers", async () => {
  await asks("make made.txt", "permissions");
  await run("permission");
  const shown = vscode.window.activeTextEditor?.document.getText() ?? "";
  assert.match(shown, /echo made > made\.txt/);
  const [reject] = (await lenses()).filter((lens) => lens.command?.title === "Reject");
  await vscode.commands.executeCommand(reject!.command!.command, ...(reject!.command!.arguments as unknown[]));
  assert.equal(said(await ended()), "It is not run.");
  assert.equal(existsSync(pathOf("made.txt")), false);
});

test("managePermissions: what was allowed for the session is listed, and revoked", async () => {
  await asks("make made.txt", "permissions");
  await run("permission");
  const [session] = (await lenses()).filter((lens) => lens.command?.title.endsWith("this session"));
  await until("it is allowed, once it has been there for a moment", async () => {
    await vscode.commands.executeCommand(session!.command!.command, ...(session!.command!.arguments as unknown[]));
    return (await state()).permissions.length === 0;
  });
  await ended();
  const done = run("managePermissions");
  await hands.choose("echo made > made.txt");
  await done;
  await hands.sees("the permission is revoked");
  await run("managePermissions");
  await hands.sees("you allowed nothing in this workspace beyond single calls");
});

test("input: the question in an input box", async () => {
  await asks("ask for one colour", "inputs");
  const done = run("input");
  await hands.choose("green");
  await done;
  assert.match(said(await ended()), /green/);
});

test("waiting: a single request at once, several in a list", async () => {
  await run("waiting");
  await hands.sees("nothing is waiting for you");
  await asks("ask for one colour", "inputs");
  await asks("make made.txt", "permissions");
  const done = run("waiting");
  await hands.choose("Which colour?");
  await done;
  await hands.choose("red");
  await until("one is left", async () => (await state()).inputs.length === 0);
  await run("waiting");
  await until("the permission", () => vscode.window.activeTextEditor?.document.uri.scheme === "tark-asked");
});

async function lenses(): Promise<vscode.CodeLens[]> {
  const { uri } = vscode.window.activeTextEditor!.document;
  return until("lenses", async () => {
    const found = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", uri, 20);
    return found.length > 0 ? found : undefined;
  });
}
