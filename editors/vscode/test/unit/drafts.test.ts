/** What was typed into boxes outlives the window. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memento } from "vscode";
import { Drafts } from "../../src/turns/drafts";

/** As VS Code keeps it: what is read by the next window went through JSON. */
class Memory implements Memento {
  private kept = "{}";

  keys(): readonly string[] {
    return Object.keys(this.all());
  }

  get<T>(key: string, otherwise?: T): T {
    return (this.all()[key] ?? otherwise) as T;
  }

  update(key: string, value: unknown): Thenable<void> {
    this.kept = JSON.stringify({ ...this.all(), [key]: value });
    return Promise.resolve();
  }

  private all(): Record<string, unknown> {
    return JSON.parse(this.kept) as Record<string, unknown>;
  }
}

test("what was typed is there in the next window, by its box", () => {
  const memory = new Memory();
  new Drafts(memory, "turns").keep("ask", "what is ");
  const next = new Drafts(memory, "turns");
  assert.deepEqual([next.of("ask"), next.of("agent"), next.boxes], ["what is ", "", ["ask"]]);
  assert.deepEqual(new Drafts(memory, "questions").boxes, []);
});

test("what was taken, or taken out, is not kept", () => {
  const memory = new Memory();
  const drafts = new Drafts(memory, "turns");
  drafts.keep("ask", "what is it? ");
  drafts.keep("agent", "tidy up");
  drafts.taken("ask", "what is it?");
  drafts.keep("agent", " ");
  assert.deepEqual(memory.keys(), []);
});

test("what was typed while other words were on their way stays", () => {
  const drafts = new Drafts(new Memory(), "turns");
  drafts.keep("ask", "and why?");
  drafts.taken("ask", "what is it?");
  assert.equal(drafts.of("ask"), "and why?");
});

test("a box may have the name of what every object has", () => {
  const drafts = new Drafts(new Memory(), "turns");
  assert.equal(drafts.of("constructor"), "");
});
