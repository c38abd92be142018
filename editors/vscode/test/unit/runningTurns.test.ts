/** Running turns: a short one can end before the command that started it is answered. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RunningTurns } from "../../src/model/runningTurns";
import { State } from "../../src/model/state";

test("a turn that ended before its command was answered does not run", () => {
  const state = new State();
  const running = new RunningTurns(state);
  const turn = { sessionId: "s", turnId: "t" };
  state.emit("update", { params: { ...turn, seq: 1, update: { kind: "start" } } });
  assert.equal(running.isRunning("s"), true);
  state.emit("update", { params: { ...turn, seq: 2, update: { kind: "end" } } });
  running.addTurn(turn);
  assert.equal(running.count, 0);
});
