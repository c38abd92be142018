/** What the chat says of things that pass: notices of retries, and announcements to screen readers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "./dom";
import { open, pause } from "./opened";
import { Announcer } from "../../src/chat/page/announce";
import { spokenText } from "../../src/chat/page/spokenText";
import type { ToPage, TurnHead } from "../../src/chat/messages";

const RUNNING: TurnHead = { turnId: "t1", state: "running", prompt: "who calls average?" };
const TRANSCRIPT: ToPage = { kind: "transcript", transcript: { sessionId: "s", earlier: false, turns: [{ head: RUNNING, blocks: [] }] }, sending: [] };

test("a retry that waits is told as such until its time is over, and then as the past", async () => {
  const page = open();
  const notice = (index: number, message: string): ToPage => ({ kind: "changes", changes: [{ kind: "block", turnId: "t1", index, block: { kind: "notice", level: "info", message } }] });
  const shown = (): (string | null)[] => page.all(".answer .notice").map(({ textContent }) => textContent);
  await page.give(TRANSCRIPT, notice(0, "retrying in 30 s (429: too many requests (soon))"));
  assert.deepEqual(shown(), ["retrying in 30 s (429: too many requests (soon))"]);
  await page.give(notice(1, "retrying in 0 s (no connection)"));
  await pause(20);
  assert.deepEqual(shown(), ["retry after 30 s: 429: too many requests (soon)", "retry: no connection"]);
  await page.give(notice(2, "retrying in 9 s (503)"), { kind: "changes", changes: [{ kind: "turn", head: { ...RUNNING, state: "ended", stopReason: "cancelled" } }] });
  assert.equal(shown()[2], "retry after 9 s: 503");
  await page.give(notice(3, "the model stopped for an unknown reason: x"));
  assert.equal(shown()[3], "the model stopped for an unknown reason: x");
  assert.equal(page.all(".answer .notice.retry").length, 3, "in a row, only the last one is visible (CSS)");
});

test("the end of an answer is announced without its Markdown", async () => {
  const cases: [markdown: string, expected: string][] = [
    ["## It works\n\nThe **sum** of `prices` is [here](shop/a.py#L3).", "It works. The sum of prices is here."],
    ["- [x] one\n- two\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |", "done: one. two. a. b. 1. 2."],
    ["See:\n\n```py\nprint('*')\n```\n\n![a chart](http://x/y.png)\n\n> so\n> be it", "See: (code) image: a chart. so be it."],
    ["a &amp; b_c_d * e", "a & b_c_d * e."],
    ["", ""],
  ];
  for (const [text, expected] of cases) {
    assert.equal(spokenText(text), expected);
  }
  assert.ok(spokenText("word ".repeat(10_000)).length <= 300);
  const page = open();
  await page.give(TRANSCRIPT, { kind: "changes", changes: [{ kind: "block", turnId: "t1", index: 0, block: { kind: "text", text: "**Done** with `it`" } }] });
  await page.give({ kind: "changes", changes: [{ kind: "turn", head: { ...RUNNING, state: "ended", stopReason: "end_turn" } }] });
  await pause(20);
  assert.equal(page.one("[aria-live=polite]").textContent, "Tark is done. Done with it.");
});

test("once a model is there, its card is no longer announced", async () => {
  const spoken: string[] = [];
  let now = 0;
  const later: (() => void)[] = [];
  const announcer = new Announcer((words) => spoken.push(words), () => now, (does) => later.push(does));
  announcer.announce("Tark is working");
  announcer.announce("Set up a model");
  announcer.withdraw("Set up a model");
  later.splice(0).forEach((does) => does());
  assert.deepEqual(spoken, ["Tark is working"], "it was not said yet");
  now = 5000;
  announcer.announce("Set up a model");
  announcer.withdraw("Set up a model");
  announcer.withdraw("Set up a model");
  assert.deepEqual(spoken, ["Tark is working", "Set up a model", ""], "a screen reader does not find it any more");
  const page = open();
  await page.give({ kind: "setup", setup: { title: "Set up a model", words: "Choose one.", isProblem: false, offers: [] } });
  assert.equal(page.one("[aria-live=polite]").textContent, "Set up a model. Choose one.");
  await page.give({ kind: "setup", setup: null });
  assert.equal(page.one("[aria-live=polite]").textContent, "");
});

test.after(() => window.happyDOM.close());
