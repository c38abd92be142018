/** Notifications about the end of turns. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { endingNotice, waitingNotice } from "../../src/status/endingNotice";

const END = { kind: "end", stopReason: "end_turn", edits: [], changedByCommand: [] };
const HIDDEN = { chatVisible: false, away: false };
const HERE = { chatVisible: true, away: false };
const AWAY = { chatVisible: true, away: true };

test("a turn that ends is told if the chat is hidden, or another window has the focus", () => {
  assert.equal(endingNotice(END, HERE), undefined);
  assert.deepEqual(endingNotice(END, HIDDEN), { level: "info", message: "answered without changing files" });
  assert.deepEqual(endingNotice(END, AWAY), { level: "info", message: "answered without changing files" });
});

test("a turn that changed files is told only if the user is away: else the changes are visible", () => {
  const changed = { ...END, edits: [{ uri: "a", state: "applied" }], changedByCommand: ["b"] };
  assert.equal(endingNotice(changed, HIDDEN), undefined);
  assert.deepEqual(endingNotice(changed, AWAY), { level: "info", message: "finished, with changes in 2 files" });
});

test("problems are warnings; a turn that the user stopped, and updates within a turn, are not told", () => {
  const failed = { ...END, stopReason: "error", error: { code: "auth", message: "no key", hint: "set one" } };
  assert.deepEqual(endingNotice(failed, HIDDEN), { level: "warning", message: "no key; set one" });
  assert.deepEqual(endingNotice({ ...END, stopReason: "budget" }, AWAY)?.level, "warning");
  assert.deepEqual(endingNotice({ kind: "notice", level: "warning", message: "retrying" }, AWAY), { level: "warning", message: "retrying" });
  for (const update of [{ ...END, stopReason: "cancelled" }, { kind: "notice", level: "info", message: "x" }, { kind: "text", delta: "x" }, { ...failed, error: { code: "interrupted" } }]) {
    assert.equal(endingNotice(update, AWAY), undefined);
  }
});

test("a request is told if its card is visible, but the window has no focus", () => {
  assert.equal(waitingNotice(AWAY)?.message, "waiting for your answer");
  assert.equal(waitingNotice(HERE), undefined);
  assert.equal(waitingNotice({ chatVisible: false, away: true }), undefined, "it has a notification of its own");
});
