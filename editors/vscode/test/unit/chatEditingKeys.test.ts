/** Keys that VS Code would run late, after what is typed next: the page runs them at once, and VS Code does not see them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "./dom";
import { runEditingKeys } from "../../src/chat/page/editingKeys";

interface Pressed {
  readonly ran: string[];
  readonly prevented: boolean;
  /** Did the key reach VS Code's listener? */
  readonly seen: boolean;
}

/** @param allowed does the browser let the page do it? */
function press(element: HTMLElement, more: object, { isMac = false, allowed = true } = {}): Pressed {
  const body = document.createElement("div");
  body.append(element);
  document.body.replaceChildren(body);
  const ran: string[] = [];
  const execCommand = (command: string): boolean => {
    ran.push(command);
    return allowed;
  };
  Object.assign(document, { execCommand });
  runEditingKeys(body, isMac);
  let seen = false;
  const host = (): void => {
    seen = true;
  };
  document.body.addEventListener("keydown", host);
  const event = new window.KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...more }) as unknown as Event;
  element.dispatchEvent(event);
  document.body.removeEventListener("keydown", host);
  return { ran, prevented: event.defaultPrevented, seen };
}

const field = (): HTMLElement => document.createElement("textarea");
const ours = (command: string): Pressed => ({ ran: [command], prevented: true, seen: false });
const NOT_OURS: Pressed = { ran: [], prevented: false, seen: true };

test("keys that edit a field are run at once", () => {
  const ctrlKey = true;
  assert.deepEqual(press(field(), { key: "a", ctrlKey }), ours("selectAll"));
  assert.deepEqual(press(field(), { key: "z", ctrlKey }), ours("undo"));
  assert.deepEqual(press(field(), { key: "Z", ctrlKey, shiftKey: true }), ours("redo"));
  assert.deepEqual(press(field(), { key: "y", ctrlKey }), ours("redo"));
  assert.deepEqual(press(field(), { key: "x", ctrlKey }), ours("cut"));
  assert.deepEqual(press(field(), { key: "c", ctrlKey }), ours("copy"));
  assert.deepEqual(press(field(), { key: "ф", code: "KeyA", ctrlKey }), ours("selectAll"));
  assert.deepEqual(press(field(), { key: "a", metaKey: true }, { isMac: true }), ours("selectAll"));
  assert.deepEqual(press(document.createElement("input"), { key: "a", ctrlKey }), ours("selectAll"));
});

test("with nothing to undo, VS Code must not undo what is typed next; what the page may not do is VS Code's", () => {
  const ctrlKey = true;
  assert.deepEqual(press(field(), { key: "z", ctrlKey }, { allowed: false }), ours("undo"));
  assert.deepEqual(press(field(), { key: "x", ctrlKey }, { allowed: false }), { ...NOT_OURS, ran: ["cut"] });
});

test("other keys, and keys outside of fields, are not touched", () => {
  const ctrlKey = true;
  for (const more of [{ key: "a" }, { key: "v", ctrlKey }, { key: "A", ctrlKey, shiftKey: true }, { key: "a", ctrlKey, altKey: true }, { key: "a", metaKey: true }, { key: "f", ctrlKey }]) {
    assert.deepEqual(press(field(), more), NOT_OURS, JSON.stringify(more));
  }
  assert.deepEqual(press(field(), { key: "a", ctrlKey }, { isMac: true }), NOT_OURS, "Ctrl+A goes to the start of the line");
  assert.deepEqual(press(document.createElement("button"), { key: "a", ctrlKey }), NOT_OURS);
});
