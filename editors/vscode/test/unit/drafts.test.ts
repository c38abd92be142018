/** Drafts of input boxes outlive the window. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memento } from "vscode";
import { Drafts } from "../../src/window/drafts";

/** Like VS Code's memento: values go through JSON. */
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

test("a draft is there in the next window, by its box", () => {
  const memory = new Memory();
  new Drafts(memory, "turns").saveDraft("ask", "what is ");
  const next = new Drafts(memory, "turns");
  assert.deepEqual([next.draftOf("ask"), next.draftOf("agent"), next.boxes], ["what is ", "", ["ask"]]);
  assert.deepEqual(new Drafts(memory, "questions").boxes, []);
});

test("accepted or deleted text is not kept", () => {
  const memory = new Memory();
  const drafts = new Drafts(memory, "turns");
  drafts.saveDraft("ask", "what is it? ");
  drafts.saveDraft("agent", "tidy up");
  drafts.clearDraft("ask", "what is it?");
  drafts.saveDraft("agent", " ");
  assert.deepEqual(memory.keys(), []);
});

test("text typed while another prompt was on its way stays", () => {
  const drafts = new Drafts(new Memory(), "turns");
  drafts.saveDraft("ask", "and why?");
  drafts.clearDraft("ask", "what is it?");
  assert.equal(drafts.draftOf("ask"), "and why?");
});

test("a box can be named like a property of every object", () => {
  const drafts = new Drafts(new Memory(), "turns");
  assert.equal(drafts.draftOf("constructor"), "");
});
