/** What the server tells enters the state as docs/clients.md has it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { State } from "../../src/state";

test("a listener that was disposed hears nothing", () => {
  const state = new State();
  const heard: unknown[] = [];
  const listening = state.on("session", (told) => heard.push(told));
  state.goOn("s1");
  listening.dispose();
  state.goOn(undefined);
  assert.deepEqual(heard, [{ sessionId: "s1" }]);
});
