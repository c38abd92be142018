/** The card of a turn that lacks a key, once the user sets one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyCards } from "../../src/chat/keyCards";
import type { ToPage, TurnHead } from "../../src/chat/messages";
import type { KeyCheck } from "../../src/model/keyCheck";
import { State } from "../../src/model/state";
import { newTranscript, reduce } from "../../src/model/transcript";
import type { Update } from "../../src/model/transcriptTurn";
import { open } from "./opened";

const ACCEPTED: KeyCheck = { result: "accepted", message: "", model: "openai/m" };
const REFUSED: KeyCheck = { result: "refused", message: "the provider refused (HTTP 401)" };
const UNCHECKED: KeyCheck = { result: "unchecked", message: "no connection" };

/** A chat whose turn `t1` failed with `code`, after these updates of it. */
function failed({ code = "missing_key", updates = [] as Update[] } = {}) {
  const state = new State((problem) => assert.fail(String(problem)));
  const again: string[] = [];
  const changed: string[] = [];
  const transcript = newTranscript("s");
  state.place.show("s");
  state.transcripts.set("s", transcript);
  const start: Update = { kind: "start", prompt: "p", model: "openai/m" };
  const end: Update = { kind: "end", stopReason: "error", error: { code, message: "no key", hint: "" } };
  [start, ...updates, end].forEach((update, index) => reduce(transcript, { sessionId: "s", turnId: "t1", seq: index + 1, update }));
  const focused: unknown[] = [];
  state.on("reveal", () => focused.push("prompt"));
  const cards = new KeyCards(state, state.place, (turnId, how) => again.push(`${how} ${turnId}`), (turnId) => changed.push(turnId));
  const startOther = (): void => void reduce(transcript, { sessionId: "s", turnId: "t2", seq: 1, update: { ...start, prompt: "other" } });
  const check = (found: KeyCheck, provider = "openai"): void => state.emit("key", { provider, check: found });
  return { cards, again, changed, focused, check, startOther };
}

test("a key that is accepted sends the prompt of its card again, once", async () => {
  for (const code of ["missing_key", "authentication", "quota"]) {
    const { cards, again, focused, check } = failed({ code });
    await cards.setKey("t1", () => {
      check(ACCEPTED);
      return Promise.resolve("accepted");
    });
    check(ACCEPTED);
    assert.deepEqual([again, focused], [["retry t1"], ["prompt"]], code);
    assert.equal(cards.checkOf("t1"), ACCEPTED);
  }
});

test("after a refused key, the next one counts; a turn that has done something is continued", async () => {
  const { cards, again, changed, check } = failed({ updates: [{ kind: "toolCall", toolCallId: "c", status: "completed" }] });
  await cards.setKey("t1", () => {
    check(REFUSED);
    return Promise.resolve("refused");
  });
  assert.deepEqual([again, cards.checkOf("t1")], [[], REFUSED]);
  check(ACCEPTED); // "Try Again" of the message
  assert.deepEqual([again, changed], [["continue t1"], ["t1", "t1"]]);
});

test("nothing is sent by itself if the key was not set from the card, not checked, or another prompt followed", async () => {
  const byCommand = failed();
  byCommand.check(ACCEPTED);
  assert.deepEqual([byCommand.again, byCommand.cards.checkOf("t1")], [[], ACCEPTED]);

  const left = failed();
  await left.cards.setKey("t1", () => Promise.resolve(undefined));
  left.check(ACCEPTED);
  assert.deepEqual(left.again, []);

  const unchecked = failed();
  void unchecked.cards.setKey("t1", () => new Promise(() => undefined));
  unchecked.check(UNCHECKED);
  assert.deepEqual([unchecked.again, unchecked.cards.checkOf("t1")], [[], UNCHECKED]);

  const followed = failed();
  void followed.cards.setKey("t1", () => new Promise(() => undefined));
  followed.startOther();
  followed.check(ACCEPTED);
  assert.deepEqual([followed.again, followed.changed], [[], []]);
});

test("a card is not about the key of another provider, or about another problem", () => {
  const other = failed();
  other.check(ACCEPTED, "anthropic");
  const overloaded = failed({ code: "overloaded" });
  overloaded.check(ACCEPTED);
  assert.deepEqual([other.changed, overloaded.changed], [[], []]);
});

const FAILED: TurnHead = { turnId: "t", state: "ended", prompt: "p", model: "openai/m", stopReason: "error", error: { code: "missing_key", message: "no key was found", hint: "run x" } };

test("the card says what became of the key, with the button that comes next", async () => {
  const page = open();
  const shown: ToPage = { kind: "transcript", transcript: { sessionId: "s", earlier: false, turns: [{ head: FAILED, blocks: [] }] }, sending: [] };
  await page.give(shown);
  const card = (): unknown[] => [page.one(".card .sentence").textContent, ...page.all(".card button").map(({ textContent }) => textContent)];
  assert.deepEqual(card(), ["There is no key for OpenAI.", "Set API Key", "Select Model", "Retry"]);
  const cases: [check: KeyCheck, card: string[], details: string | undefined][] = [
    [REFUSED, ["OpenAI does not accept this key. It was not saved.", "Set API Key", "Select Model", "Retry"], REFUSED.message],
    [UNCHECKED, ["The key of OpenAI is saved, but not checked.", "Retry", "Set API Key", "Select Model"], UNCHECKED.message],
    [ACCEPTED, ["OpenAI accepts the API key.", "Retry", "Set API Key", "Select Model"], undefined],
  ];
  for (const [key, expected, details] of cases) {
    await page.give({ kind: "changes", changes: [{ kind: "turn", head: { ...FAILED, key } }] });
    await new Promise((resolve) => requestAnimationFrame(resolve));
    assert.deepEqual(card(), expected);
    assert.equal(page.all(".card details p")[0]?.textContent, details);
    assert.equal(page.one(".card button").className, "main");
  }
});
