/** What undo and redo say: nothing that a visible chat shows, and always what was left out. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { State } from "../../src/model/state";
import { addQueuedTurn, newTranscript } from "../../src/model/transcript";
import { describeOutcome, outcomeLevel, promptOf, sessionOf } from "../../src/turns/undoOutcome";

const KEPT = [{ uri: "b.py", reason: "it was deleted since" }];
const CLASSES = [
  ["all of it", { verb: "undid", restored: ["a.py"], kept: [] }, "undid “sort” in a.py", undefined, "info"],
  ["all of it again", { verb: "redid", restored: ["a.py", "b.py"], kept: [] }, "redid “sort” in a.py, b.py", undefined, "info"],
  ["a part", { verb: "redid", restored: ["a.py"], kept: KEPT }, "redid “sort” in a.py; kept b.py: it was deleted since", "warning", "warning"],
  ["nothing applied", { verb: "undid", restored: [], kept: [], waiting: 2 }, "“sort”: 2 changes still wait for your review", "warning", "warning"],
] as const;

for (const [title, done, message, ifShown, ifHidden] of CLASSES) {
  test(`undo and redo of ${title}`, () => {
    const outcome = describeOutcome({ ...done, prompt: "“sort”" }, (uri) => uri)!;
    assert.equal(outcome.message, message);
    assert.equal(outcomeLevel(outcome, true), ifShown);
    assert.equal(outcomeLevel(outcome, false), ifHidden);
  });
}

test("without anything done or left out there is no outcome", () => {
  assert.equal(describeOutcome({ verb: "undid", prompt: "", restored: [], kept: [] }, (uri) => uri), undefined);
});

test("a turn is named by the first line of its prompt, and found in its session", () => {
  const state = new State();
  const transcript = newTranscript("s");
  state.transcripts.set("s", transcript);
  addQueuedTurn(transcript, "t", "sort\nthe lines");
  assert.equal(promptOf(state, "t"), "“sort”");
  assert.equal(promptOf(state, "other"), "the last turn");
  assert.equal(sessionOf(state, "t"), "s");
  assert.equal(sessionOf(state, "other"), "");
});
