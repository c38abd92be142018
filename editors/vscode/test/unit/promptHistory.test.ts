/** Prompts of an input box are recalled in order, and what is typed meanwhile is not lost. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memento } from "vscode";
import { PromptHistory } from "../../src/window/promptHistory";

function memory(): Memento {
  const kept = new Map<string, unknown>();
  return { keys: () => [...kept.keys()], get: (key: string, value?: unknown) => kept.get(key) ?? value, update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)) } as Memento;
}

test("up and down", () => {
  const history = new PromptHistory(memory(), "key");
  assert.equal(history.recall(-1, ""), undefined);
  ["one", "two", "one"].forEach((words) => history.add(words));
  assert.equal(history.recall(-1, ""), "one");
  assert.equal(history.recall(-1, "one"), "two");
  assert.equal(history.recall(-1, "two"), undefined);
  assert.equal(history.recall(1, "two"), "one");
  assert.equal(history.recall(1, "one"), "");
  assert.equal(history.recall(1, ""), undefined);
});

test("typed text can be recalled, too", () => {
  const history = new PromptHistory(memory(), "key");
  history.add("one");
  assert.equal(history.recall(-1, "half"), "one");
  assert.equal(history.recall(1, "one"), "half");
  history.leave();
  assert.equal(history.recall(-1, ""), "half");
});

test("only the last are kept", () => {
  const store = memory();
  const history = new PromptHistory(store, "key");
  Array.from({ length: 60 }, (_, number) => history.add(`prompt ${number}`));
  assert.equal(store.get<string[]>("key")?.length, 50);
  assert.equal(history.recall(-1, ""), "prompt 59");
});
