/** The page holds what the extension knows, however the changes come in between. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Durations } from "../../src/chat/durations";
import type { TranscriptView } from "../../src/chat/messages";
import { Outlet } from "../../src/chat/outlet";
import { grows, Model } from "../../src/chat/page/model";
import { asked, newTranscript, reduce } from "../../src/model/transcript";
import type { Transcript, Update } from "../../src/model/transcriptTypes";

function held(model: Model): unknown {
  return model.turns.map(({ head, blocks }) => ({ head, blocks }));
}

function whole(transcript: Transcript): TranscriptView {
  return new Outlet(new Durations()).whole(transcript, Infinity);
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
  test(`changes told in portions (${pattern.toString(2)}) make the transcript`, () => {
    const transcript = newTranscript("s");
    const outlet = new Outlet(new Durations());
    const model = new Model();
    const seq = new Map<string, number>();
    model.whole(outlet.whole(transcript, Infinity));
    UPDATES.forEach(([turnId, update], index) => {
      seq.set(turnId, (seq.get(turnId) ?? 0) + 1);
      const change = reduce(transcript, { sessionId: "s", turnId, seq: seq.get(turnId)!, update });
      if (change !== undefined) {
        outlet.touch(change);
      }
      if ((pattern >> index % 6) & 1) {
        model.apply(outlet.take());
      }
    });
    model.apply(outlet.take());
    assert.deepEqual(held(model), whole(transcript).turns);
  });
}

test("the page holds the last turns until more are wanted, and hears nothing of the others", () => {
  const transcript = newTranscript("s");
  const outlet = new Outlet(new Durations());
  for (const turnId of ["a", "b", "c"]) {
    reduce(transcript, { sessionId: "s", turnId, seq: 1, update: START });
  }
  const view = outlet.whole(transcript, 2);
  assert.equal(view.earlier, true);
  assert.deepEqual(view.turns.map(({ head }) => head.turnId), ["b", "c"]);
  outlet.touch(reduce(transcript, { sessionId: "s", turnId: "a", seq: 2, update: { kind: "text", delta: "x" } })!);
  assert.deepEqual(outlet.take(), []);
  assert.equal(outlet.whole(transcript, 3).earlier, false);
});

test("a turn waits only where there is one before it", () => {
  const transcript = newTranscript("s");
  asked(transcript, "a", "first");
  assert.deepEqual(whole(transcript).turns.map(({ head }) => head.waits), [undefined]);
  asked(transcript, "b", "second");
  reduce(transcript, { sessionId: "s", turnId: "a", seq: 1, update: START });
  assert.deepEqual(whole(transcript).turns.map(({ head }) => head.waits), [undefined, true]);
});

test("500 words a second are few messages", () => {
  const transcript = newTranscript("s");
  const outlet = new Outlet(new Durations());
  outlet.whole(transcript, 10);
  let changes = 0;
  for (let seq = 1; seq <= 500; seq += 1) {
    outlet.touch(reduce(transcript, { sessionId: "s", turnId: "t", seq, update: { kind: "text", delta: "word " } })!);
    changes += seq % 15 === 0 ? outlet.take().length : 0;
  }
  assert.ok(changes <= 34, String(changes));
});

test("what has words after it does not grow any more, and is drawn so", () => {
  const model = new Model();
  const head = { turnId: "t", state: "running", prompt: "p" } as const;
  model.whole({ sessionId: "s", earlier: false, turns: [{ head, blocks: [{ kind: "text", text: "one" }] }] });
  const [turn] = model.turns;
  assert.ok(grows(turn!, 0));
  model.apply([{ kind: "block", turnId: "t", index: 1, block: { kind: "thinking", text: "two" } }]);
  assert.ok(!grows(turn!, 0));
  assert.deepEqual([...model.take().get(turn!)!], [0, 1]);
});

test("words that do not go on from what is held change nothing", () => {
  const model = new Model();
  const head = { turnId: "t", state: "running", prompt: "p" } as const;
  model.whole({ earlier: false, turns: [{ head, blocks: [{ kind: "text", text: "one" }] }] });
  model.apply([{ kind: "words", turnId: "t", index: 0, from: 7, delta: "x" }]);
  model.apply([{ kind: "words", turnId: "u", index: 0, from: 0, delta: "x" }]);
  assert.equal(model.take().size, 0);
});

test("waiting for the person is not counted as running", () => {
  const durations = new Durations();
  const call = { kind: "toolCall", toolCallId: "c", status: "in_progress" } as const;
  const now = { ...call, status: "in_progress" };
  durations.seen(now, 1000);
  now.status = "waiting";
  durations.seen(now, 1500);
  now.status = "in_progress";
  durations.seen(now, 9000);
  assert.deepEqual(durations.of(now), { ms: 500, since: 9000 });
  now.status = "completed";
  durations.seen(now, 9250);
  assert.deepEqual(durations.of(now), { ms: 750 });
});
