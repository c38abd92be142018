/** Commands by which the person comes to what waits for them. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { anew, begin, ended, pathOf, run, said, state, until } from "./window";

setup(() => anew());

async function asks(prompt: string, kind: "permissions" | "inputs"): Promise<void> {
  const known = await state();
  const { sessionId } = await begin(prompt);
  known.goOn(sessionId);
  await until("it asks", () => known[kind].length > 0);
}

test("permission: all of it in an editor, with what can be said to it", async () => {
  await asks("make made.txt", "permissions");
  await run("permission");
  const shown = vscode.window.activeTextEditor?.document.getText() ?? "";
  assert.match(shown, /echo made > made\.txt/);
  const [reject] = (await lenses()).filter((lens) => lens.command?.title === "Reject");
  await vscode.commands.executeCommand(reject!.command!.command, ...(reject!.command!.arguments as unknown[]));
  assert.equal(said(await ended()), "It is not run.");
  assert.equal(existsSync(pathOf("made.txt")), false);
});

test("input: the question in a box", async () => {
  await asks("ask for one colour", "inputs");
  const done = run("input");
  await hands.choose("green");
  await done;
  assert.match(said(await ended()), /green/);
});

test("waiting: the only one at once, several to choose from", async () => {
  await run("waiting");
  await hands.sees("nothing waits for you");
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
