/** A window without a folder. */

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { ended, run, said, select } from "./window";

async function alone(): Promise<void> {
  const path = join(mkdtempSync(join(tmpdir(), "tark-")), "alone.txt");
  writeFileSync(path, "one\ntwo\n");
  const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path));
  select(editor, 0, 1);
}

test("a notification says what the agent sees, if the chat is not visible", async () => {
  await vscode.commands.executeCommand("workbench.action.closeSidebar");
  await alone();
  await run("fix");
  await hands.sees("no folder is open, so");
  await ended();
});

test("the folder of the file is what the agent sees", async () => {
  await alone();
  const done = run("ask");
  await hands.answer("hello");
  await done;
  assert.equal(said(await ended()), "Hello from the script.");
});
