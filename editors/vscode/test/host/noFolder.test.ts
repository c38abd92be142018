/** A window without a folder. */

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { ended, run, said, select } from "./window";

test("the folder of the file is what the agent sees", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "tark-")), "alone.txt");
  writeFileSync(path, "one\ntwo\n");
  const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path));
  select(editor, 0, 1);
  const done = run("ask");
  await hands.answer("hello");
  await done;
  assert.equal(said(await ended()), "Hello from the script.");
});
