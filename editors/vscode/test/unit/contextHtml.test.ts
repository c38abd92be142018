/** The page about the context. Its text in hostile cases: surfaces.test.ts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { contextHtml } from "../../src/status/contextHtml";
import { HOSTILE } from "./hostile";
import { window } from "./dom";

function page(...given: Parameters<typeof contextHtml>): HTMLElement {
  return new window.DOMParser().parseFromString(contextHtml(...given), "text/html").body as unknown as HTMLElement;
}

function words(element: Element | null): string {
  return (element?.textContent ?? "").replace(/\s+/g, " ").trim();
}

const PARTS = [
  { name: "system prompt", tokens: 1200 },
  { name: "AGENTS.md", tokens: 790, uri: "file:///ws/AGENTS.md" },
  { name: "messages", tokens: 10, messages: 1 },
];
const ADDED = { name: "src/shapes.py:10-20", tokens: 200, uri: "file:///ws/src/shapes.py", reason: "named in <your> prompt" };

test("the parts of the next request, their shares, and what the window has room for", () => {
  const body = page("Tidy up", { parts: PARTS, tokens: 2000, contextWindow: 200_000, limit: 160_000 }, "n");
  assert.deepEqual([...body.querySelectorAll("tbody tr")].map(words), ["system prompt1.2k60%", "AGENTS.md79040%", "1 message10under 1%"]);
  assert.equal(words(body.querySelector("strong")), "2k of 200k tokens (1%)");
  assert.match(words(body), /Older messages are summarized when the context reaches 160k tokens\. Compact Session does it now/);
  assert.deepEqual([...body.querySelectorAll("a")].map((link) => decodeURIComponent(link.getAttribute("href") ?? "")), [
    "command:tark.client.compact",
    'command:vscode.open?["file:///ws/AGENTS.md"]',
    "command:tark.client.showUsage",
  ]);
});

test("code that was added to a prompt has its reason", () => {
  const body = page("Tidy up", { parts: [ADDED], tokens: 200 }, "n");
  assert.deepEqual([...body.querySelectorAll("tbody tr")].map(words), ["src/shapes.py:10-20 named in <your> prompt200100%"]);
});

test("without a window, without a session, and if it cannot be read", () => {
  assert.equal(words(page("", { parts: PARTS, tokens: 2000 }, "n").querySelector("strong")), "2000 tokens");
  assert.match(words(page("", undefined, "n")), /There is no session yet\. Send a prompt to start one\.$/);
  assert.match(words(page("", "the server has ended", "n")), /the server has ended$/);
});

test("names from a repository make no elements and no commands", () => {
  for (const text of HOSTILE) {
    const body = page(text, { parts: [{ name: text, tokens: 1, uri: text }, { name: text, tokens: 1, uri: `file:///${text}` }], tokens: 2 }, "n");
    const links = [...body.querySelectorAll("a")].map((link) => link.getAttribute("href")?.split("?")[0]);
    assert.deepEqual(links, ["command:vscode.open", "command:tark.client.showUsage"], text);
    assert.equal(body.querySelectorAll("script, img, iframe, svg, style, form, [onerror], [onload], [onclick]").length, 0, text);
  }
});
