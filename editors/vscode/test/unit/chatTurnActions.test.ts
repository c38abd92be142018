/** The buttons of a turn on the page, and the plan above the prompt. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, type Opened } from "./opened";
import { promptMessages, type StoredMessage } from "../../src/model/storedSession";
import { newTranscript, oldestUndone, reduce } from "../../src/model/transcript";
import type { ToPage, TurnHead } from "../../src/chat/messages";

const ENDED: TurnHead = { turnId: "t1", state: "ended", prompt: "add tax", stopReason: "end_turn", mode: "build", undoable: true };

function transcript(...heads: TurnHead[]): ToPage {
  return {
    kind: "transcript",
    transcript: { sessionId: "s", earlier: false, turns: heads.map((head) => ({ head, blocks: [] })) },
    sending: [],
  };
}

function changed(head: TurnHead): ToPage {
  return { kind: "changes", changes: [{ kind: "turn", head }] };
}

function names(page: Opened, place: string): string[] {
  return page.all(`${place} button`).map((button) => button.getAttribute("aria-label") ?? button.textContent);
}

function press(page: Opened, label: string): unknown {
  const button = page.all("button").find((one) => (one.getAttribute("aria-label") ?? one.textContent) === label);
  assert.ok(button, label);
  button.click();
  return page.told.at(-1);
}

test("an undone turn says so and offers Redo; redone, it offers Undo again", async () => {
  const page = open();
  await page.give(transcript(ENDED));
  assert.deepEqual(names(page, ".actions"), ["Restore to Here, before this prompt", "Undo the changes of this turn", "Edit this prompt and send it in a new session"]);
  assert.deepEqual(names(page, ".turn-end"), []);
  await page.give(changed({ ...ENDED, undone: "all" }));
  assert.equal(page.one(".undone").textContent, "Undone Redo");
  assert.ok(!names(page, ".actions").includes("Undo the changes of this turn"));
  assert.deepEqual(press(page, "Redo the changes of this turn"), { kind: "redo", turnId: "t1" });
  await page.give(changed({ ...ENDED, undone: "partly" }));
  assert.equal(page.one(".undone").textContent, "Undone in part Redo");
  assert.ok(names(page, ".actions").includes("Undo the changes of this turn"));
  await page.give(changed(ENDED));
  assert.deepEqual(names(page, ".turn-end"), []);
});

test("a button stays the same element while nothing that it depends on changes", async () => {
  const page = open();
  await page.give(transcript(ENDED));
  const before = page.one(".actions .restore");
  await page.give(changed({ ...ENDED, usage: { inputTokens: 1 } }));
  assert.equal(page.one(".actions .restore"), before);
  assert.deepEqual(press(page, "Restore to Here, before this prompt"), { kind: "restore", turnId: "t1" });
});

test("nothing can be restored while the turn runs or waits", async () => {
  const page = open();
  await page.give(transcript({ ...ENDED, state: "running" }, { ...ENDED, turnId: "t2", state: "queued" }));
  assert.equal(page.all(".restore").length, 0);
});

test("a turn in mode plan offers to build once it has ended well", async () => {
  const page = open();
  const plan: TurnHead = { ...ENDED, mode: "plan", undoable: false };
  await page.give(transcript({ ...plan, state: "running" }));
  assert.equal(page.all(".approve").length, 0);
  await page.give(changed({ ...plan, stopReason: "cancelled" }));
  assert.equal(page.all(".approve").length, 0);
  await page.give(changed(plan));
  assert.deepEqual(press(page, "Approve Plan and Build"), { kind: "approvePlan" });
});

test("the plan is above the prompt while the turn runs, and in the turn after it", async () => {
  const page = open();
  const running: TurnHead = { ...ENDED, state: "running", plan: [{ content: "read `a.py`", status: "completed" }, { content: "write", status: "pending" }] };
  await page.give(transcript(running));
  assert.deepEqual(page.all(".sticky-plan li").map((row) => row.textContent), ["☑ read a.py done", "☐ write to do"]);
  assert.equal(page.one(".sticky-plan code").textContent, "a.py");
  assert.equal(page.all(".answer .plan li").length, 0);
  await page.give(changed({ ...running, state: "ended" }));
  assert.ok(page.one(".sticky-plan").hidden);
  assert.equal(page.all(".answer .plan li").length, 2);
});

test("the prompts of a session are the messages that began a turn", () => {
  const message = (number: number, turnId: string, role: string): StoredMessage => ({ messageId: `s.${number}`, turnId, role, text: "" });
  const messages = [message(1, "t1", "user"), message(2, "t1", "assistant"), message(3, "t1", "user"), message(4, "t2", "user")];
  const imported = [message(1, "", "user"), message(2, "", "assistant"), message(3, "", "user")];
  assert.deepEqual(promptMessages(imported).map(({ messageId }) => messageId), ["s.1", "s.3"]);
  const waiting = { turnId: "t3", role: "user", text: "it waits, so it has no id" };
  assert.deepEqual(promptMessages([...messages, waiting]).map(({ messageId }) => messageId), ["s.1", "s.4"]);
});

test("the oldest undone turn is redone first", () => {
  const known = newTranscript("s");
  for (const turnId of ["t1", "t2", "t3"]) {
    reduce(known, { sessionId: "s", turnId, seq: 1, update: { kind: "start", prompt: turnId } });
    reduce(known, { sessionId: "s", turnId, seq: 2, update: { kind: "undone", undone: turnId === "t1" ? null : "all" } });
  }
  assert.equal(oldestUndone(known), "t2");
  assert.equal(oldestUndone(undefined), undefined);
});
