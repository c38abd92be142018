/** The whole page in a small DOM: the messages it receives and posts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { newPage, window } from "./dom";
import { open, pause } from "./opened";
import { keepOpened } from "../../src/chat/page/page";
import { Announcer } from "../../src/chat/page/announce";
import { withCitations } from "../../src/chat/page/citations";
import type { Status, ToPage, TurnHead } from "../../src/chat/messages";

const RUNNING: TurnHead = { turnId: "t1", state: "running", prompt: "who calls average?" };
const STATUS: Status = {
  server: "running",
  title: "Prices",
  model: "scripted/editors",
  agent: "",
  mode: "build",
  approval: "careful",
  costUsd: 0.0123,
  contextUsed: 50_000,
  contextWindow: 200_000,
  hunks: 2,
  folders: ["file:///ws"],
};

function transcript(...heads: TurnHead[]): ToPage {
  return {
    kind: "transcript",
    transcript: { sessionId: "s", earlier: false, turns: heads.map((head) => ({ head, blocks: [] })) },
    sending: [],
  };
}

test("it reports that it is ready, and shows streamed text", async () => {
  const page = open();
  assert.deepEqual(page.told, [{ kind: "ready" }]);
  await page.give(transcript(RUNNING));
  await page.give({ kind: "changes", changes: [{ kind: "block", turnId: "t1", index: 0, block: { kind: "text", text: "It is " } }] });
  await page.give({ kind: "changes", changes: [{ kind: "words", turnId: "t1", index: 0, from: 6, delta: "**one**." }] });
  assert.equal(page.one(".answer .markdown").textContent, "It is one.");
  assert.equal(page.one("article").getAttribute("aria-label"), "You: who calls average?");
});

test("calls are rows with a status and a reason; opened, they show a diff", async () => {
  const page = open();
  const uri = "file:///ws/shop/a%20b.py";
  const diff = { type: "diff", uri, hunks: [{ range: { start: { line: 4 } }, oldText: "a\n", newText: "b\u202e\n" }] };
  await page.give({ kind: "status", status: STATUS }, transcript(RUNNING), {
    kind: "changes",
    changes: [
      { kind: "block", turnId: "t1", index: 0, block: { kind: "toolCall", toolCallId: "c", status: "completed", title: "edit", content: [diff], ms: 1234 } },
      { kind: "block", turnId: "t1", index: 1, block: { kind: "toolCall", toolCallId: "d", status: "failed", title: "run", content: [{ type: "text", text: "\nno such\nfile" }] } },
    ],
  });
  const [edit, run] = page.all("details.call") as HTMLDetailsElement[];
  assert.equal(edit!.querySelector("summary")!.textContent, "✓a b.py:5 +1 -1 shop done 1.2 s");
  assert.equal(run!.querySelector(".title")!.textContent, "run");
  assert.equal(run!.querySelector(".why")!.textContent, "no such");
  assert.ok(edit!.querySelector<HTMLElement>(".why")!.hidden);
  assert.equal(page.all(".diff").length, 0);
  edit!.open = true;
  edit!.dispatchEvent(new window.Event("toggle") as unknown as Event);
  assert.equal(page.one(".diff pre").textContent, "@@ line 5\n-a\n+b\\u{202e}\n");
  page.one(".diff .file").click();
  assert.deepEqual(page.told.at(-1), { kind: "openUri", uri, line: 4 });
  assert.equal(page.one(".diff .file").textContent, "shop/a b.py");
  await pause(250);
  assert.deepEqual(page.kept()?.opened, { "t1/c": true });
});

test("a block that is drawn again right after the click that opens it is open", async () => {
  const page = open();
  const call = { kind: "block" as const, turnId: "t1", index: 0, block: { kind: "toolCall" as const, toolCallId: "c", status: "failed", title: "run", content: [{ type: "text", text: "no such file" }] } };
  await page.give(transcript(RUNNING), { kind: "changes", changes: [call] });
  page.one("details.call summary").click();
  await page.give(transcript(RUNNING), { kind: "changes", changes: [call] });
  assert.equal(page.one("details.call pre").textContent, "no such file");
  page.one("details.call summary").click();
  await page.give(transcript(RUNNING), { kind: "changes", changes: [call] });
  assert.equal((page.one("details.call") as HTMLDetailsElement).open, false);
});

test("blocks that arrive together keep their order", async () => {
  const page = open();
  const blocks = Array.from({ length: 12 }, (_, index) => ({ kind: "toolCall" as const, toolCallId: `c${index}`, status: "completed", title: `call ${index}` }));
  await page.give(transcript(RUNNING));
  await page.give({ kind: "changes", changes: blocks.map((block, index) => ({ kind: "block", turnId: "t1", index, block })) });
  assert.deepEqual(page.all(".call .title").map((element) => element.textContent), blocks.map(({ title }) => title));
});

test("a file that is moved or removed is named like others, and has no line", async () => {
  const page = open();
  const hunk = { range: { start: { line: 0 } }, oldText: "", newText: "" };
  const hunks = [{ ...hunk, operation: { kind: "move", target: "file:///ws/lib/b.py" } }, { ...hunk, operation: { kind: "remove" } }];
  const row = { requestId: "r", version: "v", title: "move a.py", risk: "write", why: "it moves a file", grants: [] };
  await page.give({ kind: "status", status: STATUS }, { kind: "waiting", permissions: [{ ...row, edits: [{ uri: "file:///ws/a.py", hunks }] }], inputs: [] });
  assert.equal(page.one(".diff pre").textContent, "@@ moved to lib/b.py\n@@ removed\n");
});

test("a prompt is queued only if a turn is before it", async () => {
  const page = open();
  await page.give(transcript({ ...RUNNING, state: "queued" }));
  assert.equal(page.one("article > footer").textContent, "Sending…");
  await page.give(transcript(RUNNING, { ...RUNNING, turnId: "t2", state: "queued", waits: true }));
  assert.equal(page.all("article > footer")[1]!.textContent, "Queued behind another turn");
});

test("at the end of a long session, the page keeps only the last turns", async () => {
  const page = open();
  await page.give(transcript(RUNNING));
  const heads = Array.from({ length: 90 }, (_, index): TurnHead => ({ ...RUNNING, turnId: `n${index}` }));
  for (const head of heads) {
    await page.give({ kind: "changes", changes: [{ kind: "turn", head }] });
  }
  assert.equal(page.told.filter(({ kind }) => kind === "fewer").length, 1);
  await page.give(transcript(...heads.slice(-40)));
  assert.equal(page.all(".turn").length, 40);
});

test("only the latest opened blocks are kept", () => {
  const page = newPage();
  for (let number = 0; number < 600; number += 1) {
    keepOpened(page, `t/${number}`, true);
  }
  keepOpened(page, "t/599", false);
  assert.deepEqual(Object.keys(page.kept.opened).map((key) => key.slice(2)).slice(-1), ["598"]);
  assert.equal(Object.keys(page.kept.opened).length, 499);
});

test("thinking is folded", async () => {
  const page = open();
  await page.give(transcript(RUNNING), { kind: "changes", changes: [{ kind: "block", turnId: "t1", index: 0, block: { kind: "thinking", text: "a\nb" } }] });
  const thinking = page.one("details.thinking") as HTMLDetailsElement;
  assert.equal(thinking.open, false);
  assert.equal(thinking.querySelector("summary")!.textContent, "Thinking (2 lines)");
});

test("a turn shows how it ended", async () => {
  const page = open();
  await page.give(transcript({ ...RUNNING, state: "ended", stopReason: "cancelled", edits: 2, usage: { inputTokens: 8000, outputTokens: 100, costUsd: 0.012 } }));
  assert.equal(page.one("article > footer").textContent, "Cancelled · 2 files changed · 8.1k tokens · $0.0120");
  await page.give(transcript({ ...RUNNING, state: "ended", stopReason: "error", model: "openai/gpt-6.1-sol", error: { code: "missing_key", message: "no key", hint: "set one" } }));
  assert.equal(page.one("article .sentence").textContent, "There is no key for OpenAI.");
  assert.equal(page.one("article .card details").textContent, "Detailsno keyset one");
});

test("the announcement of an end says how it ended", async () => {
  const ends: [Partial<TurnHead>, string][] = [
    [{ stopReason: "cancelled" }, "Tark was stopped"],
    [{ stopReason: "budget" }, "Tark stopped. The turn stopped at its cost limit."],
    [{ stopReason: "error", error: { code: "no_model", message: "no key", hint: "" } }, "Tark stopped. No model is set up."],
    [{ stopReason: "end_turn" }, "Tark is done. It is one."],
  ];
  for (const [end, words] of ends) {
    const page = open();
    await page.give(transcript({ ...RUNNING, state: "queued" }));
    await page.give({ kind: "changes", changes: [{ kind: "block", turnId: "t1", index: 0, block: { kind: "text", text: "It is one." } }, { kind: "turn", head: { ...RUNNING, state: "ended", ...end } }] });
    assert.equal(page.one(".unseen[role=status]").textContent, words);
  }
});

test("Enter sends, and the extension keeps the text until then", async () => {
  const page = open();
  page.type("hello");
  assert.deepEqual(page.told.at(-1), { kind: "draft", words: "hello" });
  const again = open(page.kept());
  await again.give({ kind: "draft", words: "hello" });
  const field = again.one("textarea") as HTMLTextAreaElement;
  assert.equal(field.value, "hello");
  again.press(field, "Enter", { shiftKey: true });
  again.press(field, "Enter", { isComposing: true });
  assert.ok(!again.told.some(({ kind }) => kind === "send"));
  again.press(field, "Enter");
  assert.deepEqual(again.told.find(({ kind }) => kind === "send"), { kind: "send", words: "hello" });
  assert.equal(field.value, "");
  again.press(field, "ArrowUp");
  assert.equal(field.value, "hello");
  again.press(field, "ArrowDown");
  assert.equal(field.value, "");
});

test("what is typed before the kept text arrives continues it; text that moved to another chat is gone", async () => {
  const page = open();
  const field = page.one("textarea") as HTMLTextAreaElement;
  page.type("ht");
  await page.give({ kind: "draft", words: "half a thoug" });
  assert.equal(field.value, "half a thought");
  assert.deepEqual(page.told.at(-1), { kind: "draft", words: "half a thought" });
  await page.give({ kind: "draft", words: "half a thoug" });
  assert.equal(field.value, "half a thought");
  await page.give({ kind: "moved" });
  assert.deepEqual([field.value, page.told.at(-1)], ["", { kind: "draft", words: "" }]);
});

test("VS Code stores the id of a tab as soon as its page loads", () => {
  assert.equal(open(undefined, "a tab").kept()?.tab, "a tab");
});

test("while a turn runs, prompts are queued or sent to it, and it can be stopped", async () => {
  const page = open();
  await page.give(transcript(RUNNING));
  const buttons = page.all(".prompt-part .buttons button").filter((element) => !element.hidden);
  assert.deepEqual(buttons.map((element) => element.textContent), ["+", "Stop", "Send Now", "Queue"]);
  page.type("faster");
  page.press(page.one("textarea"), "Enter", { ctrlKey: true });
  assert.deepEqual(page.told.find(({ kind }) => kind === "steer"), { kind: "steer", words: "faster" });
  buttons[1]!.click();
  assert.deepEqual(page.told.at(-1), { kind: "cancel" });
});

test("an earlier prompt is edited and sent in its place", async () => {
  const page = open();
  await page.give(transcript({ ...RUNNING, state: "ended" }));
  page.type("half a thought");
  page.one(".turn-head button:not(.restore)").click();
  const field = page.one("textarea") as HTMLTextAreaElement;
  assert.equal(field.value, RUNNING.prompt);
  page.press(field, "Enter");
  assert.deepEqual(page.told.find(({ kind }) => kind === "send"), { kind: "send", words: RUNNING.prompt, instead: { sessionId: "s", turnId: "t1" } });
  page.press(field, "ArrowUp");
  page.press(field, "ArrowUp");
  assert.equal(field.value, "half a thought");
});

test("an edit belongs to its session, and only turns that start with a prompt alone can be edited", async () => {
  const page = open();
  await page.give(transcript({ ...RUNNING, state: "ended", turnKind: "edit" }));
  assert.equal(page.all(".turn-head button:not(.restore)").length, 0);
  await page.give(transcript({ ...RUNNING, state: "ended", turnKind: "ask" }));
  page.one(".turn-head button:not(.restore)").click();
  assert.equal(page.one(".edits").hidden, false);
  const other = { kind: "transcript", transcript: { sessionId: "other", earlier: false, turns: [] }, sending: [] } as const;
  await page.give(other);
  assert.equal(page.one(".edits").hidden, true);
  page.press(page.one("textarea"), "Enter");
  assert.deepEqual(page.told.findLast(({ kind }) => kind === "send"), { kind: "send", words: RUNNING.prompt });
});

test("a rejected prompt comes back above the typed text", async () => {
  const page = open();
  page.type("next");
  await page.give({ kind: "words", words: "first" }, { kind: "say", words: "Not sent: no." });
  assert.equal((page.one("textarea") as HTMLTextAreaElement).value, "first\n\nnext");
  assert.equal(page.one("[role=alert]").textContent, "Not sent: no.");
});

test("two messages at once are both shown, the same one once, until a prompt is sent", async () => {
  const page = open();
  const refused = ["a.png is larger than 3.75 MB.", "b.sql is larger than 1 MB.", "a.png is larger than 3.75 MB."];
  await page.give(...refused.map((words) => ({ kind: "say", words }) as const));
  assert.deepEqual(page.all("[role=alert] p").map(({ textContent }) => textContent), [refused[1], refused[2]]);
  await page.give({ kind: "sending", turns: [] });
  assert.equal(page.all("[role=alert] p").length, 2);
  await page.give({ kind: "sending", turns: [{ ...RUNNING, state: "sending" }] });
  assert.equal(page.all("[role=alert] p").length, 0);
});

test("mentions are requested and chosen by keys, and late answers are ignored", async () => {
  const page = open();
  page.type("see @fi");
  const asked = page.told.at(-1)!;
  assert.ok(asked.kind === "complete" && asked.text === "see @fi" && asked.offset === 7);
  const items = ["@file:", "@files"].map((label) => ({ label, insert: label, from: 4, to: 7 }));
  await page.give({ kind: "completion", id: asked.id - 1, items });
  assert.ok(page.one(".completion").hidden);
  await page.give({ kind: "completion", id: asked.id, items });
  const field = page.one("textarea") as HTMLTextAreaElement;
  assert.equal(field.getAttribute("aria-activedescendant"), "completion-0");
  page.press(field, "ArrowDown");
  page.press(field, "Enter");
  assert.equal(field.value, "see @files ");
  assert.ok(page.one(".completion").hidden);
  assert.ok(!page.told.some(({ kind }) => kind === "send"));
});

test("the status shows title, model, mode, approval level, hunks and cost", async () => {
  const page = open();
  await page.give({ kind: "status", status: STATUS });
  assert.equal(page.one("h1").textContent, "Prices, sessions");
  assert.deepEqual(
    page.all(".status button").filter((element) => !element.hidden).map((element) => element.textContent),
    ["editors", "build", "careful", "2 to review", "50k of 200k", "$0.0123"],
  );
  await page.give({ kind: "status", status: { ...STATUS, agent: "reviewer" } });
  const agent = page.all(".status button").find((element) => element.textContent === "reviewer");
  assert.equal(agent?.getAttribute("aria-label"), "Select the agent, currently reviewer");
  agent.click();
  assert.deepEqual(page.told.at(-1), { kind: "run", what: "agent" });
  await page.give({ kind: "status", status: STATUS });
  const meter = page.one(".context");
  assert.equal(meter.getAttribute("aria-label"), "Context: 50k of 200k tokens, 25%: show what the next request contains");
  meter.click();
  assert.deepEqual(page.told.at(-1), { kind: "run", what: "context" });
  const { contextWindow: _, ...unknown } = STATUS;
  await page.give({ kind: "status", status: unknown });
  assert.deepEqual([meter.textContent, page.one(".meter").hidden], ["50k tokens", true]);
  await page.give({ kind: "status", status: STATUS });
  page.one(".status button").click();
  assert.deepEqual(page.told.at(-1), { kind: "run", what: "model" });
  await page.give({ kind: "status", status: { ...STATUS, server: "none" } });
  assert.equal(page.one("header .notice").textContent, "The server is not running. Start Server");
  await page.give({ kind: "status", status: { ...STATUS, server: "starting" } });
  assert.equal(page.one("header .notice").textContent, "The server is starting…");
});

test("sessions are listed on request", async () => {
  const page = open();
  const opener = page.one("header button");
  opener.click();
  assert.equal(opener.getAttribute("aria-expanded"), "true");
  assert.deepEqual(page.told.at(-1), { kind: "sessions", all: false });
  await page.give({ kind: "sessions", sessions: [{ sessionId: "s9", title: "<b>", figures: "now", current: true }], all: false });
  assert.equal(page.one("nav li .open").textContent, "<b>");
  page.one("nav .others").click();
  assert.deepEqual(page.told.at(-1), { kind: "sessions", all: true });
  page.all("nav li button")[1]!.focus();
  await page.give({ kind: "sessions", sessions: [{ sessionId: "s9", title: "called otherwise", figures: "now", current: true }], all: true });
  assert.ok(page.one("nav .others").hidden);
  assert.equal(document.activeElement?.getAttribute("aria-label"), "Rename called otherwise");
  page.one("nav li .open").click();
  assert.deepEqual(page.told.at(-1), { kind: "session", action: "open", sessionId: "s9" });
  assert.ok(page.one("nav").hidden);
});

test("announcements come one at a time, and the last one is not lost", () => {
  let now = 0;
  const said: string[] = [];
  const later: (() => void)[] = [];
  const announcer = new Announcer((words) => said.push(words), () => now, (does) => later.push(does));
  ["a", "b", "c"].forEach((words) => announcer.announce(words));
  assert.deepEqual(said, ["a"]);
  now = 3000;
  later.forEach((does) => does());
  assert.deepEqual(said, ["a", "c"]);
});

test("cited code becomes a link and a fenced block", () => {
  assert.equal(
    withCitations('See <code="src/a.py" #3:4>\nx = 1\n</code> there.'),
    "See \n\n[src/a.py:3-4](src/a.py#L3-L4)\n\n````py\nx = 1\n````\n\n there.",
  );
  assert.equal(withCitations('```\n<code="a" #1>\n```'), '```\n<code="a" #1>\n```');
});

test.after(() => window.happyDOM.close());

/** A browser reports the size of an element at the end of a frame: when it is observed, and when it has changed. */
class FrameObserver {
  static readonly all: FrameObserver[] = [];
  private readonly reported = new Map<Element, number | undefined>();

  constructor(private readonly does: () => void) {
    FrameObserver.all.push(this);
  }

  observe(element: Element): void {
    this.reported.set(element, undefined);
  }

  endFrame(height: number): void {
    const changed = [...this.reported].filter(([, last]) => last !== height);
    changed.forEach(([element]) => this.reported.set(element, height));
    if (changed.length > 0) {
      this.does();
    }
  }
}

test("a transcript that is loaded again stays at its end, also if it is as high as before", async () => {
  const former = globalThis.ResizeObserver;
  globalThis.ResizeObserver = FrameObserver as unknown as typeof ResizeObserver;
  try {
    const page = open();
    let height = 0; // new turns have no height until the end of the frame (`content-visibility`)
    const element = page.one(".transcript");
    Object.defineProperty(element, "scrollHeight", { get: () => height });
    const endFrame = (): void => {
      height = 545;
      FrameObserver.all.forEach((observer) => observer.endFrame(height));
    };
    await page.give(transcript(RUNNING));
    endFrame();
    assert.equal(element.scrollTop, 545);
    height = 0;
    await page.give(transcript({ ...RUNNING, state: "ended" }));
    endFrame();
    assert.equal(element.scrollTop, 545);
  } finally {
    globalThis.ResizeObserver = former;
  }
});
