/** What is attached to the prompt: what is accepted, what is sent, and what the page does with drops and chips. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAttached, contextParts, fileOfDropped, imageType } from "../../src/chat/attached";
import { seesImages } from "../../src/chat/modelSight";
import { droppedUris } from "../../src/chat/page/attachments";
import { completionsOf, slashRows } from "../../src/chat/slashCommands";
import { window } from "./dom";
import { open } from "./opened";

test("images are known by their endings", () => {
  assert.deepEqual(["a.PNG", "/b/c.jpg", "d.jpeg", "e.gif", "f.webp", "g.svg", "png", "h.py"].map(imageType), [
    "image/png", "image/jpeg", "image/jpeg", "image/gif", "image/webp", undefined, undefined, undefined,
  ]);
});

test("what is too large, or of another type, is refused with a sentence", () => {
  checkAttached({ name: "a", mimeType: "image/png", size: 3_750_000 });
  checkAttached({ name: "a", size: 1_000_000 });
  assert.throws(() => checkAttached({ name: "a", mimeType: "image/png", size: 3_750_001 }), /^Error: a is larger than 3.75 MB$/);
  assert.throws(() => checkAttached({ name: "a", size: 1_000_001 }), /^Error: a is larger than 1 MB$/);
  assert.throws(() => checkAttached({ name: "a", mimeType: "image/svg+xml", size: 1 }), /only PNG, JPEG, GIF and WebP/);
  checkAttached({ name: "a", size: 10_000_000, isFile: true });
  assert.throws(() => checkAttached({ name: "a", size: 10_000_001, isFile: true }), /^Error: a is larger than 10 MB$/);
});

test("files of this side have two kinds of URIs", () => {
  assert.equal(fileOfDropped("file:///w/a%20b.py"), "file:///w/a%20b.py");
  assert.equal(fileOfDropped("vscode-remote://ssh-remote%2Bhost/w/a.py\r"), "file:///w/a.py");
  for (const other of ["https://example.org/a.png", "untitled:a", "data:image/png;base64,", "vscode-remote:", "file://server/a", ""]) {
    assert.equal(fileOfDropped(other), undefined, other);
  }
});

test("the URIs of a drop, in the best format", () => {
  const dropped = (data: Record<string, string>): string[] => droppedUris((format) => data[format] ?? "");
  assert.deepEqual(dropped({ "text/uri-list": "# files\r\nfile:///a\r\nfile:///b\r\n" }), ["file:///a", "file:///b"]);
  assert.deepEqual(dropped({ resourceurls: '["file:///a", 3]', "text/uri-list": "http://b" }), ["file:///a"]);
  assert.deepEqual(dropped({ resourceurls: "no list" }), []);
  assert.deepEqual(dropped({ "application/vnd.code.uri-list": "vscode-remote://x/a", resourceurls: '["file:///b"]' }), ["vscode-remote://x/a"]);
});

test("each kind has its own fields in the protocol", () => {
  const attached = [
    { id: "1", name: "a.py", uri: "file:///w/a.py" },
    { id: "2", name: "shot.png", mimeType: "image/png", data: "iVBO" },
    { id: "3", name: "log", data: "words" },
  ];
  assert.deepEqual(contextParts(attached), [
    { type: "file", uri: "file:///w/a.py" },
    { type: "image", name: "shot.png", mimeType: "image/png", data: "iVBO" },
    { type: "text", name: "log", text: "words" },
  ]);
});

test("whether a model sees images is what the server's list says", async () => {
  const asked: unknown[] = [];
  const models = [{ id: "p/blind", images: false }, { id: "p/seeing", images: true }, { id: "p/unknown", images: null }];
  const executeCommand = <T>(name: string, argument?: object): Promise<T> => {
    asked.push([name, argument]);
    return argument !== undefined && "provider" in argument && argument.provider === "p" ? Promise.resolve({ models } as T) : Promise.reject(new Error("no key"));
  };
  const server = { running: true, executeCommand };
  const found = ["p/blind", "p/seeing", "p/unknown", "p/other", "q/m", ""].map((model) => seesImages(server, model));
  assert.deepEqual(await Promise.all(found), [false, true, undefined, undefined, undefined, undefined]);
  assert.deepEqual(asked[0], ["tark.models.list", { provider: "p" }]);
  assert.equal(await seesImages({ ...server, running: false }, "p/blind"), undefined);
});

test("chips show what is sent, and their buttons remove it", async () => {
  const page = open();
  const items = [
    { id: "place", name: "shop/prices.py", lines: "lines 3 to 5" },
    { id: "1", name: "<b>.png", thumbnail: "data:image/png;base64,iVBO" },
  ];
  await page.give({ kind: "attachments", items, warning: "m does not see images." });
  assert.deepEqual(page.all(".attachments li").map((chip) => chip.textContent), ["prices.py, lines 3 to 5×", "<b>.png×"]);
  assert.equal(page.one(".attachments img").getAttribute("src"), "data:image/png;base64,iVBO");
  assert.equal(page.one(".prompt-part .warning").textContent, "m does not see images.");
  const remove = page.all(".attachments button");
  assert.equal(remove[0]!.getAttribute("aria-label"), "Do not send prices.py, lines 3 to 5");
  remove[1]!.focus();
  remove[1]!.click();
  assert.deepEqual(page.told.at(-1), { kind: "detach", id: "1" });
  await page.give({ kind: "attachments", items: [], warning: "" });
  assert.ok(page.one(".attachments").hidden);
  assert.equal(document.activeElement?.id, "prompt");
  page.one(".attach").click();
  assert.deepEqual(page.told.at(-1), { kind: "attach" });
});

test("a prompt with attached files is queued, not sent to the running turn", async () => {
  const page = open();
  const head = { turnId: "t1", state: "running", prompt: "go" } as const;
  await page.give({ kind: "transcript", transcript: { sessionId: "s", earlier: false, turns: [{ head, blocks: [] }] }, sending: [] });
  await page.give({ kind: "attachments", items: [{ id: "1", name: "a.py" }], warning: "" });
  page.type("see this");
  page.press(page.one("textarea"), "Enter", { ctrlKey: true });
  assert.deepEqual(page.told.find(({ kind }) => kind === "send"), { kind: "send", words: "see this" });
});

test("commands complete after a slash, and run instead of being sent", async () => {
  assert.deepEqual(slashRows("/mod", 4).map(({ label }) => label), ["/model", "/mode"]);
  const served = { label: "/agent", insert: "/agent", from: 0, to: 2 };
  const rows = completionsOf([served, { ...served, label: "/explain" }], slashRows("/a", 2));
  assert.deepEqual(rows.map(({ label }) => label), ["/explain", "/agent", "/approval"]);
  assert.deepEqual(slashRows("/", 1).length, 12);
  assert.deepEqual([...slashRows("see /mod", 8), ...slashRows("/etc/hosts", 10)], []);
  const page = open();
  page.type("/usage");
  page.press(page.one("textarea"), "Enter");
  assert.deepEqual(page.told.at(-1), { kind: "run", what: "usage" });
  assert.equal((page.one("textarea") as HTMLTextAreaElement).value, "");
  page.type("/mod");
  const asked = page.told.findLast(({ kind }) => kind === "complete")!;
  assert.ok(asked.kind === "complete");
  await page.give({ kind: "completion", id: asked.id, items: slashRows("/mod", 4) });
  page.press(page.one("textarea"), "Tab");
  assert.deepEqual(page.told.at(-1), { kind: "run", what: "model" });
  page.type("/constructor");
  page.press(page.one("textarea"), "Enter");
  assert.deepEqual(page.told.find(({ kind }) => kind === "send"), { kind: "send", words: "/constructor" });
});

test("the arrow key recalls only in the first line", () => {
  const page = open();
  const field = page.one("textarea") as HTMLTextAreaElement;
  page.type("first");
  page.press(field, "Enter");
  page.type("one\ntwo");
  page.press(field, "ArrowUp");
  assert.equal(field.value, "one\ntwo");
  field.setSelectionRange(2, 2);
  page.press(field, "ArrowUp");
  assert.equal(field.value, "first");
  page.press(field, "ArrowDown");
  assert.equal(field.value, "one\ntwo");
});

test("a turn names the file and the lines that it is about", async () => {
  const page = open();
  const head = { turnId: "t1", state: "ended", prompt: "shorter", turnKind: "edit", place: { uri: "file:///w/shop/prices.py", first: 2, last: 4 } } as const;
  await page.give({ kind: "transcript", transcript: { sessionId: "s", earlier: false, turns: [{ head, blocks: [] }] }, sending: [] });
  assert.equal(page.one(".turn-head .place").textContent, "prices.py:3-5");
  page.one(".turn-head .place button").click();
  assert.deepEqual(page.told.at(-1), { kind: "openUri", uri: "file:///w/shop/prices.py", line: 2 });
});

test.after(() => window.happyDOM.close());
