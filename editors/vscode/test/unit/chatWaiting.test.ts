/** Pending requests on the chat's page: how they are shown and answered, and never answered by mistake. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "./dom";
import { open, pause } from "./opened";
import type { PermissionRow, ToHost } from "../../src/chat/messages";

const PERMISSION: PermissionRow = {
  requestId: "r",
  version: "r d",
  title: "run_command make",
  risk: "risky",
  why: "it runs a command",
  command: { text: "make \u202eall", cwd: "/ws", argv: ["/bin/bash", "-c", "make \u202eall"], env: ["A=b"] },
  grants: [{ id: "g1", covers: "`make \u202eall` in this folder, this session" }],
};

test("a permission request is shown whole, and the answer names the shown version", async () => {
  const page = open();
  await page.give({ kind: "waiting", permissions: [PERMISSION], inputs: [] });
  assert.equal(page.one(".command").textContent, "make \\u{202e}all");
  assert.equal(page.one(".command + p").textContent, "in /ws");
  assert.equal(page.one(".why + .how summary").textContent, "by /bin/bash -c with A=b");
  const buttons = page.all(".permission button");
  const named = (name: string): HTMLElement => buttons.find((element) => element.textContent === name)!;
  assert.deepEqual(buttons.map((element) => element.textContent), [
    "Cancel Turn",
    "Reject with Reason",
    "Allow",
    "Allow exactly this command in this folder, this session",
    "Reject",
    "Show",
  ]);
  named("Allow").click();
  assert.ok(!page.told.some(({ kind }) => kind === "permission"), "a click that came too soon");
  await pause(520);
  named("Allow exactly this command in this folder, this session").click();
  assert.deepEqual(page.told.at(-1), { kind: "permission", version: "r d", reply: { outcome: "allow", grant: "g1" }, wasSeen: true });
  (page.one(".reject input") as HTMLInputElement).value = "not now";
  named("Reject with Reason").click();
  assert.deepEqual(page.told.at(-1), { kind: "permission", version: "r d", reply: { outcome: "reject", reason: "not now" } });
  await page.give({ kind: "waiting", permissions: [], inputs: [] });
  assert.ok(page.one(".waiting").hidden);
});

test("the heading says what a command gets beyond the sandbox", async () => {
  const page = open();
  const command = { ...PERMISSION.command!, beyond: ", with the network" };
  await page.give({ kind: "waiting", permissions: [{ ...PERMISSION, command }], inputs: [] });
  assert.equal(page.one(".permission h3").textContent, "Run a command, with the network");
});

test("the menu beside Allow has all that can be allowed for longer, and closes by Escape", async () => {
  const page = open();
  const wide = { id: "g2", covers: "`make ...` with any arguments in this folder, always" };
  await page.give({ kind: "waiting", permissions: [{ ...PERMISSION, grants: [...PERMISSION.grants, wide] }], inputs: [] });
  const menu = page.one(".permission > .buttons > .grants") as HTMLDetailsElement;
  assert.equal(menu.previousElementSibling?.textContent, "Allow");
  assert.ok(!menu.open);
  menu.open = true;
  const [exact, any] = [...menu.querySelectorAll("button")];
  assert.equal(exact!.textContent, "Allow exactly this command in this folder, this session");
  assert.equal(any!.textContent, "Allow `make ...` with any arguments in this folder, always");
  any!.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Escape", bubbles: true }) as unknown as Event);
  assert.ok(!menu.open);
  any!.click();
  assert.ok(!page.told.some(({ kind }) => kind === "permission"), "a click that came too soon");
  await pause(520);
  any!.click();
  assert.deepEqual(page.told.at(-1), { kind: "permission", version: "r d", reply: { outcome: "allow", grant: "g2" }, wasSeen: true });
});

test("a diff is behind a toggle, and what must be seen is allowed only after it was open", async () => {
  const page = open();
  const edits = [{ uri: "file:///ws/a.py", hunks: [{ oldText: "one\n", newText: "two\nthree\n" }] }];
  const { command: _, ...edit } = PERMISSION;
  await page.give({ kind: "waiting", permissions: [{ ...edit, title: "edit a.py", edits, mustBeSeen: true, grants: [] }], inputs: [] });
  assert.equal(page.one(".permission h3").textContent, "Edit a.py");
  const details = page.one("details.change") as HTMLDetailsElement;
  assert.ok(!details.open);
  assert.match(page.one("details.change summary").textContent, /a\.py \+2 −1$/);
  await pause(520);
  const allow = page.one(".permission > .buttons .main");
  assert.equal(allow.getAttribute("aria-disabled"), "true");
  allow.click();
  assert.ok(!page.told.some(({ kind }) => kind === "permission"), "not seen yet");
  assert.ok(details.open, "so it is shown");
  allow.click();
  assert.deepEqual(page.told.at(-1), { kind: "permission", version: "r d", reply: { outcome: "allow" }, wasSeen: true });
});

test("keys press Allow and Reject of the first request, as a click does", async () => {
  const answers = ({ told }: { told: readonly ToHost[] }): unknown[] => told.flatMap((message) => (message.kind === "permission" ? [[message.version, message.reply.outcome]] : []));
  const page = open();
  const prompt = page.one("textarea") as HTMLTextAreaElement;
  const press = (key: string, more: object = {}, target: HTMLElement = prompt): void => page.press(target, key, { ctrlKey: true, ...more });
  await page.give({ kind: "waiting", permissions: [PERMISSION, { ...PERMISSION, requestId: "s", version: "s d" }], inputs: [] });
  press("Enter");
  assert.deepEqual(answers(page), [], "too soon after it appeared");
  await pause(520);
  page.type("no, use the other one");
  press("Enter");
  assert.ok(page.told.some(({ kind }) => kind === "send"), "it is for the text in the prompt");
  press("Enter");
  assert.deepEqual(answers(page), [], "pressed twice, for that text");
  await pause(1020);
  press("Enter", { repeat: true });
  press("Enter", { altKey: true });
  press("Enter", { ctrlKey: false });
  press("Enter", {}, page.one(".reject input"));
  press("Backspace", {}, page.one(".reject input"));
  press("Enter", {}, page.all(".permission > .buttons button")[1]);
  page.type("x");
  press("Backspace");
  page.type("");
  assert.deepEqual(answers(page), [], "the key of something else");
  await pause(1020);
  press("Enter", {}, page.one(".asked"));
  press("Backspace");
  assert.deepEqual(answers(page), [["r d", "allow"], ["r d", "reject"]]);
});

test("the buttons say their keys; until the end of the text was seen, the key only scrolls on", async () => {
  const page = open();
  await page.give({ kind: "waiting", permissions: [{ ...PERMISSION, isUnsaved: true }], inputs: [] });
  page.one(".asked").dispatchEvent(new window.Event("scroll") as unknown as Event);
  const titles = (): (string | null)[] => page.all(".permission > .buttons > button").map((element) => element.getAttribute("title"));
  assert.deepEqual(titles().slice(0, 3), ["Ctrl+Enter", null, "Ctrl+Backspace"]);
  const other = open();
  await other.give({ kind: "waiting", permissions: [PERMISSION], inputs: [] });
  Object.defineProperty(other.one(".asked"), "clientHeight", { value: 50 });
  Object.defineProperty(other.one(".asked > .where"), "offsetTop", { value: 200 });
  await pause(520);
  other.press(other.one("textarea"), "Enter", { ctrlKey: true });
  assert.ok(!other.told.some(({ kind }) => kind === "permission"));
  assert.equal(other.one(".permission .main").getAttribute("title"), "Read to the end first (Ctrl+Enter)");
});

test("Allow works once the end of the text was on the screen", async () => {
  const page = open();
  await page.give({ kind: "waiting", permissions: [PERMISSION], inputs: [] });
  const [again, where, allow] = [page.one(".asked"), page.one(".asked > .where"), page.one(".permission > .buttons .main")];
  Object.defineProperty(again, "clientHeight", { value: 50 });
  Object.defineProperty(where, "offsetTop", { value: 200 });
  await pause(520);
  allow.click();
  assert.ok(!page.told.some(({ kind }) => kind === "permission"));
  again.scrollTop = 150;
  again.dispatchEvent(new window.Event("scroll") as unknown as Event);
  assert.equal(allow.getAttribute("aria-disabled"), null);
  again.scrollTop = 0;
  allow.click();
  assert.ok(page.told.some(({ kind }) => kind === "permission"), "its end was seen before");
});

test("a command that would not see unsaved changes says so in its buttons", async () => {
  const page = open();
  await page.give({ kind: "waiting", permissions: [{ ...PERMISSION, isUnsaved: true, grants: [] }], inputs: [] });
  const buttons = page.all(".permission > .buttons button");
  assert.deepEqual(buttons.map((element) => element.textContent), ["Save and Run", "Run Anyway", "Reject", "Show"]);
  await pause(520);
  buttons[0]!.click();
  assert.deepEqual(page.told.at(-1), { kind: "permission", version: "r d", reply: { outcome: "allow", save: true }, wasSeen: true });
});

test("of several requests one is asked at a time, and their number is said", async () => {
  const page = open();
  await page.give({ kind: "waiting", permissions: [PERMISSION, { ...PERMISSION, requestId: "r2" }], inputs: [] });
  assert.equal(page.one(".waiting h2").textContent, "Waiting for you: 1 of 2");
  await page.give({ kind: "waiting", permissions: [PERMISSION], inputs: [] });
  assert.ok(page.one(".waiting h2").hidden);
  await page.give({ kind: "waiting", permissions: [], inputs: [] });
  assert.equal(page.one(".waiting h2").textContent, "", "a screen reader can find hidden text");
});

test("a reason that is being typed stays when another request arrives", async () => {
  const page = open();
  await page.give({ kind: "waiting", permissions: [PERMISSION], inputs: [] });
  const reason = page.one(".reject input") as HTMLInputElement;
  reason.value = "because";
  reason.dispatchEvent(new window.Event("input", { bubbles: true }) as unknown as Event);
  await page.give({ kind: "waiting", permissions: [PERMISSION, { ...PERMISSION, requestId: "r2" }], inputs: [] });
  assert.equal(page.all(".reject input")[0], reason);
  assert.equal(page.all(".permission").length, 2);
  reason.focus();
  await page.give({ kind: "waiting", permissions: [{ ...PERMISSION, version: "r d2" }], inputs: [] });
  const [again] = page.all(".reject input") as HTMLInputElement[];
  assert.ok(again !== reason && again!.value === "because" && document.activeElement === again);
  await page.give({ kind: "waiting", permissions: [], inputs: [] });
  page.press(page.one("#prompt"), "ArrowUp");
  assert.equal((page.one("#prompt") as HTMLTextAreaElement).value, "because");
});

test("a typed answer outlives the page", async () => {
  const page = open();
  const options = [{ id: "a", label: "One" }];
  const input = { requestId: "q", question: "Which?", options, multiple: true, freeText: true };
  await page.give({ kind: "waiting", permissions: [], inputs: [input] });
  (page.one("input[type=checkbox]") as HTMLInputElement).checked = true;
  const field = page.one(".own textarea") as HTMLTextAreaElement;
  field.value = "half";
  field.dispatchEvent(new window.Event("input", { bubbles: true }) as unknown as Event);
  await pause(250);
  const again = open(page.kept());
  await again.give({ kind: "waiting", permissions: [], inputs: [input] });
  assert.equal((again.one(".own textarea") as HTMLTextAreaElement).value, "half");
  assert.ok((again.one("input[type=checkbox]") as HTMLInputElement).checked);
});

test("a click that was meant for the previous row is ignored", async () => {
  const page = open();
  const other = { ...PERMISSION, requestId: "r2", version: "r2 d" };
  await page.give({ kind: "waiting", permissions: [PERMISSION, other], inputs: [] });
  await pause(520);
  page.one(".permission .main").click();
  await page.give({ kind: "waiting", permissions: [other], inputs: [] });
  page.one(".permission .main").click();
  assert.equal(page.told.filter(({ kind }) => kind === "permission").length, 1);
});

test("a question is answered by one option, by several, or by text", async () => {
  const page = open();
  const options = [{ id: "a", label: "One" }, { id: "b", label: "Two" }];
  const input = { requestId: "q", question: "Which?", options, multiple: false, freeText: false };
  await page.give({ kind: "waiting", permissions: [], inputs: [input, { ...input, requestId: "m", multiple: true }, { ...input, requestId: "w", options: [], freeText: true }] });
  await pause(520);
  page.one(".input button").click();
  assert.deepEqual(page.told.at(-1), { kind: "input", requestId: "q", answer: ["a"] });
  assert.equal(page.one(".input h3").textContent, "Tark asks");
  page.all("input[type=checkbox]").forEach((box) => ((box as HTMLInputElement).checked = true));
  page.all(".input")[1]!.querySelector<HTMLElement>("button.main")!.click();
  assert.deepEqual(page.told.at(-1), { kind: "input", requestId: "m", answer: ["a", "b"] });
  const words = page.one(".own textarea") as HTMLTextAreaElement;
  words.value = " mine ";
  page.press(words, "Enter");
  assert.deepEqual(page.told.at(-1), { kind: "input", requestId: "w", answer: "mine" });
});

test.after(() => window.happyDOM.close());
