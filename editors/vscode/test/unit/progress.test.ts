/** When the progress of a turn has a notification: never beside a request, nor right after an answer. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/model/protocol";
import { State } from "../../src/model/state";
import { Progress } from "../../src/status/progress";

function newProgress(context: TestContext) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] }); // the time, which the test lets pass
  const state = new State();
  const open = new Set<{ message: string }>();
  let opened = 0;
  let chat = false;
  const progress = new Progress(state, {
    changed: () => undefined,
    isChatVisible: () => chat,
    openToast: () => {
      const toast = { message: "" };
      open.add(toast);
      opened += 1;
      return { report: (message) => (toast.message = message), close: () => void open.delete(toast) };
    },
    showResult: () => undefined,
  });
  const ask = (...requestIds: string[]): void => {
    state.permissions = requestIds.map((requestId) => ({ requestId }) as Permission);
    state.emit("permission", undefined);
  };
  const report = (message: string): void => progress.updateProgress("t", { kind: "report", message }, () => undefined);
  progress.updateProgress("t", { kind: "begin", title: "a turn", cancellable: true }, () => undefined);
  const pass = (ms: number): void => context.mock.timers.tick(ms);
  const messages = (): string[] => [...open].map(({ message }) => message);
  const showChat = (visible: boolean): void => {
    chat = visible;
    progress.redraw();
  };
  return { progress, ask, report, pass, messages, showChat, opened: () => opened };
}

test("a turn of two seconds has a notification, unless the chat is visible; it goes with the turn", (context) => {
  const { progress, report, pass, messages, showChat } = newProgress(context);
  report("thinking");
  pass(1999);
  assert.deepEqual(messages(), []);
  pass(1);
  assert.deepEqual(messages(), ["thinking"]);
  showChat(true);
  assert.deepEqual(messages(), []);
  showChat(false);
  report("reading");
  assert.deepEqual(messages(), ["reading"]);
  progress.updateProgress("t", { kind: "end" }, () => undefined);
  assert.deepEqual(messages(), []);
});

test("edits, a check and a command that asks: the only notification is that of the request", (context) => {
  const { progress, ask, report, pass, opened } = newProgress(context);
  pass(1950);
  report("checking the edit for new errors");
  pass(250);
  report("waiting for you: run_command python3 a.py");
  ask("r");
  pass(60_000);
  ask();
  pass(300);
  report("run_command python3 a.py");
  pass(1600);
  progress.updateProgress("t", { kind: "end" }, () => undefined);
  pass(60_000);
  assert.equal(opened(), 0);
});

test("a request takes the notification away; the next answer starts the delay again", (context) => {
  const { ask, report, pass, messages } = newProgress(context);
  report("thinking");
  pass(3000);
  assert.deepEqual(messages(), ["thinking"]);
  ask("r");
  assert.deepEqual(messages(), []);
  ask("r", "s");
  ask("s");
  pass(3000);
  assert.deepEqual(messages(), []);
  ask();
  report("run_command make");
  pass(1999);
  assert.deepEqual(messages(), []);
  pass(1);
  assert.deepEqual(messages(), ["Run make"]);
});

test("a turn that begins while a request waits has its notification only after the answer", (context) => {
  const { progress, ask, pass, opened } = newProgress(context);
  ask("r");
  progress.updateProgress("other", { kind: "begin", title: "another turn", cancellable: true }, () => undefined);
  pass(60_000);
  assert.equal(opened(), 0);
  ask();
  pass(2000);
  assert.equal(opened(), 2);
});

test("tools are named in words", (context) => {
  const { progress, report } = newProgress(context);
  for (const [message, words] of [
    ["run_command python3 a.py", "Run python3 a.py"],
    ["waiting for you: edit_file a.py", "waiting for you: Edit a.py"],
    ["2 tools running: read_file, search_text", "2 tools running: Read, Search"],
    ["checking the edit for new errors", "checking the edit for new errors"],
  ] as const) {
    report(message);
    assert.equal(progress.activity, words);
  }
});
