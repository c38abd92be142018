/** Running programs, and ending them with their child processes. */

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type * as vscode from "vscode";
import { Events } from "../../src/model/events";
import { CancelledError, runLogged } from "../../src/server/programs";

const NEVER = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };

/** `heard` is called with the output of the program. */
async function run(token: unknown, script: string, heard: (said: string) => void = () => undefined): Promise<string> {
  const log = { append: heard, appendLine: () => undefined } as unknown as vscode.OutputChannel;
  return runLogged(log, tmpdir(), token as vscode.CancellationToken, "/bin/sh", ["-c", script]);
}

test("the output, and the last line of an error", async () => {
  assert.equal(await run(NEVER, "echo one; echo two >&2"), "one\n");
  await assert.rejects(run(NEVER, "echo ERROR: no such package; echo hint; exit 1"), /^Error: ERROR: no such package$/);
  await assert.rejects(run(NEVER, "exit 3"), /\/bin\/sh ended with 3/);
});

test("cancelling ends child processes, too", { timeout: 60_000 }, async () => {
  const events = new Events<{ cancel: undefined }>();
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => events.on("cancel", listener),
  };
  const running = run(token, "sleep 1000 & echo begun; wait", () => {
    token.isCancellationRequested = true;
    events.emit("cancel", undefined);
  });
  await assert.rejects(running, CancelledError); // rejects once no process has the pipe open
});
