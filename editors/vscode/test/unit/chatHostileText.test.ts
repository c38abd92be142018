/** Hostile text in each field that the chat's page draws: code exactly, prose and titles without deceptive characters. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { chatLine, chatProse, documentText, plainLine } from "../../src/text/surfaces";
import type { PermissionRow, Status, ToPage } from "../../src/chat/messages";
import { window } from "./dom";
import { HOSTILE_TEXT } from "./hostileText";
import { open, type Opened } from "./opened";

const STATUS: Status = { server: "running", title: "", model: "", agent: "", mode: "", approval: "", hunks: 0, folders: ["file:///ws"] };
const LOOKED_AT = 200; // characters: a diff and a title are cut
const DECEIVES = /[\p{Cc}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u;

function permission(text: string): PermissionRow {
  return {
    requestId: "r",
    version: text,
    title: text,
    risk: "risky",
    why: text,
    command: { text, cwd: text, argv: ["sh", "-c", text], env: [`A=${text}`] },
    edits: [{ uri: `file:///ws/${encodeURIComponent(wellFormed(text))}`, hunks: [{ oldText: "", newText: `${text}\n` }] }],
    grants: [{ id: "g", covers: text }],
  };
}

function answer(text: string): ToPage[] {
  const content = [{ type: "text", text }];
  const head = { turnId: "t", state: "running", prompt: text, plan: [{ content: text, status: "pending" }] } as const;
  const call = { kind: "toolCall", toolCallId: "c", status: "failed", title: text, arguments: text, content } as const;
  const turns = [{ head, blocks: [call, { kind: "notice", level: "info", message: text }, { kind: "text", text }] as const }];
  return [{ kind: "transcript", transcript: { sessionId: "s", earlier: false, turns }, sending: [] }];
}

/** No URI can hold a lone surrogate. */
function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, "?");
}

/** The first lines of a diff, which shows the others on demand. */
function addedLines(text: string): string {
  const added = text === "" ? [""] : documentText(`${text}\n`).split("\n").slice(0, -1);
  return ["@@", ...added.map((line) => `+${line}`)].join("\n");
}

const lines = (text: string): string => text.replaceAll("\r\n", "\n");

/** Selectors of what the page draws of a text, and what it must be. */
const FIELDS: Readonly<Record<string, (text: string) => string>> = {
  ".permission .command": documentText,
  ".permission .command + p": (text) => `in ${plainLine(text)}`,
  ".permission .how .title": (text) => plainLine(`by sh -c with A=${text}`),
  ".permission .why": (text) => `risky, asked because ${plainLine(text)}`,
  ".permission .grants .menu button": (text) => `Allow ${plainLine(text)}`,
  ".permission .diff .file": (text) => plainLine(wellFormed(text)),
  ".permission .diff pre": addedLines,
  "header .title span": (text) => chatLine(text) || "New session",
  "details.call .plain": (text) => documentText(lines(text)),
  ".notice.info": chatProse,
};

async function draw(page: Opened, text: string): Promise<void> {
  await page.give({ kind: "status", status: { ...STATUS, title: text } }, { kind: "waiting", permissions: [permission(text)], inputs: [] }, ...answer(text));
  for (const details of page.all("details") as HTMLDetailsElement[]) {
    details.open = true;
    details.dispatchEvent(new window.Event("toggle") as unknown as Event);
  }
}

test("each field shows each hostile text, without deceptive characters and elements of its own", async () => {
  const page = open();
  for (const { name, text } of HOSTILE_TEXT) {
    await draw(page, text);
    for (const [selector, wanted] of Object.entries(FIELDS)) {
      assert.equal(page.one(selector).textContent.slice(0, LOOKED_AT), `${wanted(text)}${selector.endsWith("pre") ? "\n" : ""}`.slice(0, LOOKED_AT), `${selector}: ${name}`);
    }
    const title = page.one("details.call .title").textContent;
    assert.equal(title.slice(0, LOOKED_AT), plainLine(text.trim()).slice(0, LOOKED_AT), name);
    assert.ok(!DECEIVES.test(page.body.textContent.replace(/[\n\t]/g, "")), name);
    assert.equal(page.all("script, iframe, img, object, embed, style, base, meta, form, [href], [src]").length, 0, name);
  }
});

test.after(() => window.happyDOM.close());
