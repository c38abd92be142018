/** Chats in tabs show the same session after the window was reloaded, with the text that was typed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memento } from "vscode";
import { StoredTabs } from "../../src/chat/storedTabs";

function newMemory(): Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, other?: T) => (values.get(key) ?? other) as T,
    update: (key: string, value: unknown) => Promise.resolve(void values.set(key, value)),
  };
}

test("each tab gets what it had, in any order; without a hint, what is left", () => {
  const memory = newMemory();
  const before = new StoredTabs(memory);
  const [one, two, three] = [before.add({ sessionId: "a", text: "" }), before.add({ sessionId: "b", text: "" }), before.add({ text: "" })];
  two.text = "typed";
  two.save();
  three.onSession("c");
  before.remove(one);

  const after = new StoredTabs(memory);
  assert.deepEqual(after.restore("c").stored, { sessionId: "c", text: "" });
  assert.deepEqual(after.restore("an older one").stored, { sessionId: "b", text: "typed" });
  assert.deepEqual(after.restore("d").stored, { sessionId: "d", text: "" }, "VS Code knows more");
  assert.deepEqual(after.restore(undefined).stored, { text: "" });
});

test("a tab that VS Code has not restored yet is kept", () => {
  const memory = newMemory();
  new StoredTabs(memory).add({ sessionId: "a", text: "x" });
  new StoredTabs(memory).add({ text: "" });
  assert.deepEqual(new StoredTabs(memory).restore("a").stored, { sessionId: "a", text: "x" });
});
