/** The page has the same transcript as the extension, however the changes are split into messages. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Durations } from "../../src/chat/durations";
import type { TranscriptView } from "../../src/chat/messages";
import { TranscriptChanges } from "../../src/chat/transcriptChanges";
import { grows, TranscriptModel } from "../../src/chat/page/model";
import { addQueuedTurn, newTranscript, reduce } from "../../src/model/transcript";
import type { Transcript } from "../../src/model/transcript";
import type { Update } from "../../src/model/transcriptTurn";

function held(model: TranscriptModel): unknown {
  return model.turns.map(({ head, blocks }) => ({ head, blocks }));
}

function whole(transcript: Transcript): TranscriptView {
  return new TranscriptChanges(new Durations()).fullView(transcript, Infinity);
}

const START = { kind: "start", prompt: "hello", turnKind: "agent", model: "m", mode: "build" };
const UPDATES: readonly (readonly [turnId: string, update: Update])[] = [
  ["t1", START],
  ["t1", { kind: "thinking", delta: "Hm" }],
  ["t1", { kind: "thinking", delta: ", well" }],
  ["t1", { kind: "text", delta: "I " }],
  ["t2", START],
  ["t1", { kind: "text", delta: "look." }],
  ["t1", { kind: "toolCall", toolCallId: "c1", name: "read_file", title: "read a.py", status: "in_progress" }],
  ["t1", { kind: "toolCall", toolCallId: "c2", name: "run", title: "run x", status: "waiting", arguments: "{}" }],
  ["t2", { kind: "text", delta: "Other." }],
  ["t1", { kind: "toolCall", toolCallId: "c1", status: "completed", content: [{ type: "text", text: "found" }] }],
  ["t1", { kind: "notice", level: "info", message: "mind this" }],
  ["t1", { kind: "plan", entries: [{ content: "one", status: "pending" }] }],
  ["t1", { kind: "text", delta: "Done" }],
  ["t1", { kind: "usage", inputTokens: 5, contextUsed: 5, contextWindow: 100 }],
  ["t1", { kind: "end", stopReason: "cancelled", text: "", edits: [], usage: { inputTokens: 6 } }],
  ["t2", { kind: "end", stopReason: "error", error: { code: "x", message: "no", hint: "" }, edits: [] }],
];

for (let pattern = 0; pattern < 64; pattern += 1) {
  test(`changes sent in parts (${pattern.toString(2)}) make the transcript`, () => {
    const transcript = newTranscript("s");
    const outlet = new TranscriptChanges(new Durations());
    const model = new TranscriptModel();
    const seq = new Map<string, number>();
    model.replaceAll(outlet.fullView(transcript, Infinity));
    UPDATES.forEach(([turnId, update], index) => {
      seq.set(turnId, (seq.get(turnId) ?? 0) + 1);
      const change = reduce(transcript, { sessionId: "s", turnId, seq: seq.get(turnId)!, update });
      if (change !== undefined) {
        outlet.addChange(change);
      }
      if ((pattern >> index % 6) & 1) {
        model.applyChanges(outlet.takeChanges());
      }
    });
    model.applyChanges(outlet.takeChanges());
    assert.deepEqual(held(model), whole(transcript).turns);
  });
}

test("the page holds the last turns until more are requested, and gets no changes of the others", () => {
  const transcript = newTranscript("s");
  const outlet = new TranscriptChanges(new Durations());
  for (const turnId of ["a", "b", "c"]) {
    reduce(transcript, { sessionId: "s", turnId, seq: 1, update: START });
  }
  const view = outlet.fullView(transcript, 2);
  assert.equal(view.earlier, true);
  assert.deepEqual(view.turns.map(({ head }) => head.turnId), ["b", "c"]);
  outlet.addChange(reduce(transcript, { sessionId: "s", turnId: "a", seq: 2, update: { kind: "text", delta: "x" } })!);
  assert.deepEqual(outlet.takeChanges(), []);
  assert.equal(outlet.fullView(transcript, 3).earlier, false);
});

test("a turn waits only if another one is before it", () => {
  const transcript = newTranscript("s");
  addQueuedTurn(transcript, "a", "first");
  assert.deepEqual(whole(transcript).turns.map(({ head }) => head.waits), [undefined]);
  addQueuedTurn(transcript, "b", "second");
  reduce(transcript, { sessionId: "s", turnId: "a", seq: 1, update: START });
  assert.deepEqual(whole(transcript).turns.map(({ head }) => head.waits), [undefined, true]);
});

test("500 words per second cause few messages", () => {
  const transcript = newTranscript("s");
  const outlet = new TranscriptChanges(new Durations());
  outlet.fullView(transcript, 10);
  let changes = 0;
  for (let seq = 1; seq <= 500; seq += 1) {
    outlet.addChange(reduce(transcript, { sessionId: "s", turnId: "t", seq, update: { kind: "text", delta: "word " } })!);
    changes += seq % 15 === 0 ? outlet.takeChanges().length : 0;
  }
  assert.ok(changes <= 34, String(changes));
});

test("a block with another block after it no longer grows, and is redrawn", () => {
  const model = new TranscriptModel();
  const head = { turnId: "t", state: "running", prompt: "p" } as const;
  model.replaceAll({ sessionId: "s", earlier: false, turns: [{ head, blocks: [{ kind: "text", text: "one" }] }] });
  const [turn] = model.turns;
  assert.ok(grows(turn!, 0));
  model.applyChanges([{ kind: "block", turnId: "t", index: 1, block: { kind: "thinking", text: "two" } }]);
  assert.ok(!grows(turn!, 0));
  assert.deepEqual([...model.takeStale().get(turn!)!], [0, 1]);
});

test("text that does not continue the current text is ignored", () => {
  const model = new TranscriptModel();
  const head = { turnId: "t", state: "running", prompt: "p" } as const;
  model.replaceAll({ earlier: false, turns: [{ head, blocks: [{ kind: "text", text: "one" }] }] });
  model.applyChanges([{ kind: "words", turnId: "t", index: 0, from: 7, delta: "x" }]);
  model.applyChanges([{ kind: "words", turnId: "u", index: 0, from: 0, delta: "x" }]);
  assert.equal(model.takeStale().size, 0);
});

test("waiting for the user does not count as running", () => {
  const durations = new Durations();
  const call = { kind: "toolCall", toolCallId: "c", status: "in_progress" } as const;
  const now = { ...call, status: "in_progress" };
  durations.recordStatus(now, 1000);
  now.status = "waiting";
  durations.recordStatus(now, 1500);
  now.status = "in_progress";
  durations.recordStatus(now, 9000);
  assert.deepEqual(durations.durationOf(now), { ms: 500, since: 9000 });
  now.status = "completed";
  durations.recordStatus(now, 9250);
  assert.deepEqual(durations.durationOf(now), { ms: 750 });
});
