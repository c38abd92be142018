/** Programs that are run to their end, and ended with all they began. */

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type * as vscode from "vscode";
import { Events } from "../../src/model/events";
import { Cancelled, runLogged } from "../../src/server/programs";

const NEVER = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };

/** Given up once the program has said something; `said` is that. */
async function run(token: unknown, script: string, heard: (said: string) => void = () => undefined): Promise<string> {
  const log = { append: heard, appendLine: () => undefined } as unknown as vscode.OutputChannel;
  return runLogged(log, tmpdir(), token as vscode.CancellationToken, "/bin/sh", ["-c", script]);
}

test("what it prints, and the last line of its complaint", async () => {
  assert.equal(await run(NEVER, "echo one; echo two >&2"), "one\n");
  await assert.rejects(run(NEVER, "echo ERROR: no such package; echo hint; exit 1"), /^Error: ERROR: no such package$/);
  await assert.rejects(run(NEVER, "exit 3"), /\/bin\/sh ended with 3/);
});

test("given up, what it began ends, too", { timeout: 60_000 }, async () => {
  const events = new Events<{ cancel: undefined }>();
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => events.on("cancel", listener),
  };
  const running = run(token, "sleep 1000 & echo begun; wait", () => {
    token.isCancellationRequested = true;
    events.emit("cancel", undefined);
  });
  await assert.rejects(running, Cancelled); // which is when none of them has the pipe any more
});
