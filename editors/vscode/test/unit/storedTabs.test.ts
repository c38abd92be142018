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

test("each tab is restored by its id, in any order; an unknown one is a new chat", () => {
  const memory = newMemory();
  const before = new StoredTabs(memory);
  const [one, two] = [before.add("a"), before.add()];
  two.text = "typed";
  two.onSession("b");

  const after = new StoredTabs(memory);
  const [second, first] = [after.restore(two.stored.id), after.restore(one.stored.id)];
  assert.deepEqual([second.stored.sessionId, second.text], ["b", "typed"]);
  assert.deepEqual([first.stored.sessionId, first.text], ["a", ""]);
  for (const id of ["an older one", undefined]) {
    const other = after.restore(id);
    assert.deepEqual([other.stored.sessionId, other.text], [undefined, ""]);
  }
});

test("the text of a closed tab waits for its session, also in the next window", () => {
  const memory = newMemory();
  const before = new StoredTabs(memory);
  const [closed, fresh, open] = [before.add("a"), before.add(), before.add("b")];
  closed.text = "half a thought";
  fresh.text = "a first one";
  open.text = "still there";
  assert.equal(before.takeText("a"), "", "the tab is open");
  closed.setClosed(true);
  fresh.setClosed(true);
  before.add("c").setClosed(true);

  const after = new StoredTabs(memory);
  assert.deepEqual(["b", "c", "d"].map((id) => after.takeText(id)), ["", "", ""]);
  assert.deepEqual([after.takeText("a"), after.takeText(undefined)], ["half a thought", "a first one"]);
  assert.deepEqual([after.takeText("a"), after.takeText(undefined)], ["", ""], "only once");
  assert.deepEqual(new StoredTabs(memory).restore(open.stored.id).text, "still there");
  assert.deepEqual(memory.get<unknown[]>("tark.chat.tabs", []).length, 1, "nothing else is left");
});

test("a closed tab that VS Code restores is open again", () => {
  const tabs = new StoredTabs(newMemory());
  const tab = tabs.add("a");
  tab.text = "typed";
  tab.setClosed(true);
  assert.equal(tabs.restore(tab.stored.id).text, "typed");
  assert.equal(tabs.takeText("a"), "");
});

test("a prompt that comes back after its tab was closed waits, too", () => {
  const tabs = new StoredTabs(newMemory());
  const tab = tabs.add("a");
  tab.setClosed(true);
  tab.text = "not accepted";
  assert.equal(tabs.takeText("a"), "not accepted");
});
