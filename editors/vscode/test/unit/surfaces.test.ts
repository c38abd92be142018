/** Hostile text on every surface: the surface draws exactly that text, with code points for what is invisible. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import MarkdownIt from "markdown-it";
import { importGraph } from "../../layers.mjs";
import { permissionAnswers } from "../../src/asking/permissionAnswers";
import { fullText, permissionMessage } from "../../src/asking/permissionText";
import type { Hunk, Permission } from "../../src/model/protocol";
import { diffSide } from "../../src/review/diffText";
import { hunkTitle } from "../../src/review/hunkText";
import { requestRows } from "../../src/review/treeRows";
import { contextHtml } from "../../src/status/contextHtml";
import { doctorPage } from "../../src/status/doctorPage";
import * as surfaces from "../../src/text/surfaces";
import { drawnAsIs, drawnInHtml, drawnWithBoth, drawnWithIcons, drawnWithLinks, HOSTILE_TEXT, type Shown } from "./hostileText";

const CODE = [
  "git checkout $(git rev-parse HEAD)",
  "cd $(pwd); $(sync~spin) \\$(check) \\\\$(check) $(foo_bar) $((1+1)) ${HOME}",
  "ls [0-9]* a[0](1) [x](y) x[i](z) *.py",
  "echo `date` '`' ```",
  "grep 'a  b'   c",
  "if [[ $x ]]; then echo %s {0} && exit; fi",
];

interface Surface {
  readonly name: string;
  readonly give: (text: string) => string;
  readonly draw: (given: string) => Shown;
  /** Has the surface one line? */
  readonly line: boolean;
}

const blanks = (text: string): string => text.replace(/[·\u00a0]/g, " ");
const codeLens = (given: string): Shown => ({ ...drawnWithIcons(given), text: drawnInHtml(drawnWithIcons(given).text) });

const SURFACES: readonly Surface[] = [
  { name: "documents, diffs, code in the chat", give: surfaces.documentText, draw: drawnAsIs, line: false },
  { name: "trees, titles, tooltips, dialogs", give: surfaces.plainLine, draw: drawnAsIs, line: true },
  { name: "rows of lists", give: surfaces.listRow, draw: drawnWithIcons, line: true },
  { name: "status bar", give: surfaces.statusBarText, draw: drawnWithIcons, line: true },
  { name: "code lenses", give: surfaces.codeLensTitle, draw: codeLens, line: true },
  { name: "notifications", give: surfaces.notificationText, draw: drawnWithLinks, line: true },
  { name: "notifications with links", give: (text) => `${surfaces.notificationText(text)} — `, draw: beforeOwnLink, line: true },
  { name: "prompts of input boxes", give: surfaces.inputPrompt, draw: drawnWithBoth, line: true },
  { name: "text beside code", give: surfaces.decorationText, draw: (given) => ({ text: drawnInHtml(given), markup: [] }), line: true },
  { name: "hovers", give: (text) => surfaces.hoverCode(text, "diff"), draw: drawnAsMarkdown, line: false },
];

/** In front of a link of the extension, which stays as it is. */
function beforeOwnLink(given: string): Shown {
  const { text, markup } = drawnWithLinks(`${given}[Show](command:tark.client.notice?1)`);
  assert.deepEqual(markup.slice(-1), ["[Show](command:tark.client.notice?1)"]);
  return { text: text.replace(/ — Show$/, ""), markup: markup.slice(0, -1) };
}

function drawnAsMarkdown(given: string): Shown {
  const [block, ...others] = new MarkdownIt({ html: true }).parse(given, {});
  const markup = [...others.map(({ type }) => type), ...(block?.type === "fence" ? [] : [block?.type ?? "nothing"])];
  return { text: block?.content.replace(/\n$/, "") ?? "", markup };
}

const DECEIVES = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** Written as the shared rule says, without the modules under test. */
function exact(text: string, line: boolean): string {
  const points = [...(line ? text.replaceAll("\r\n", "\n") : text)].map((character) => {
    const sign = line ? { "\n": "⏎", "\t": "⇥" }[character] : /[\n\t]/.exec(character)?.[0];
    const isHidden = DECEIVES.test(character) || surfaces.documentText(character) !== character;
    return sign ?? (isHidden ? `\\u{${character.codePointAt(0)!.toString(16)}}` : character);
  });
  return points.join("");
}

for (const { name, give, draw, line } of SURFACES) {
  test(`hostile text is drawn exactly: ${name}`, () => {
    for (const { name: which, text } of HOSTILE_TEXT) {
      const { text: drawn, markup } = draw(give(text));
      assert.deepEqual(markup, [], which);
      assert.ok(!DECEIVES.test(drawn.replace(line ? /\u00a0/g : /[\n\t]/g, "")), which);
      const wanted = exact(text, line).trim();
      const brackets = drawn.trim().replaceAll("\\u{28}", "(").replaceAll("\\u{5b}", "[");
      assert.equal(blanks(brackets).trim(), blanks(wanted).trim(), which);
    }
  });

  test(`code is drawn without a changed character: ${name}`, () => {
    for (const code of CODE) {
      const { text, markup } = draw(give(code));
      assert.deepEqual([blanks(text), markup], [code, []]);
    }
  });
}

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
const name = (uri: string): string => uri;

function hunk(text: string): Hunk {
  return { hunkId: "h", turnId: "t", range, oldText: "", newText: `${text}\n`, applied: false, state: "pending", reason: text };
}

function permission(text: string): Permission {
  const command = { argv: ["sh", "-c", text], text, cwd: text, env: { A: text } };
  const grants = [{ id: "g", covers: text }];
  return { requestId: "p", sessionId: "s", turnId: "t", title: text, toolKind: "execute", risk: text as Permission["risk"], why: text, digest: "d", grants, command };
}

/** What the extension makes of hostile text: lines, of which it must have this many. */
const MADE: Readonly<Record<string, { readonly lines?: number; readonly make: (text: string) => string }>> = {
  "a permission's notification": { lines: 1, make: (text) => permissionMessage(permission(text), name) },
  "its answers": { lines: 1, make: (text) => permissionAnswers(permission(text), true).map(({ title }) => title).join(" ") },
  "a permission of edits": {
    lines: 1,
    make: (text) => permissionMessage({ ...permission(""), command: null, edits: [{ uri: text, version: 1, hunks: [hunk(text)] }] }, name),
  },
  "its document": { make: (text) => fullText({ ...permission(text), edits: [{ uri: text, version: 1, hunks: [hunk(text)] }] }, name, {}) },
  "the rows of a request": {
    lines: 1,
    make: (text) => requestRows([permission(text)], []).map(({ label, description }) => label + description).join(" "),
  },
  "the title of a hunk": { lines: 1, make: (text) => hunkTitle(hunk(text), name) },
  "the title of a moved file": { lines: 1, make: (text) => hunkTitle({ ...hunk(""), operation: { kind: "move", target: text } }, name) },
  "a side of a diff": { make: (text) => diffSide([text], [{ hunk: hunk(text), place: { start: 0, count: 0 } }], "after") },
  "the page about the context": { lines: 45, make: (text) => contextHtml(text, { parts: [{ name: text, tokens: 1, uri: `file:///${text}` }], tokens: 1 }, "n") },
  "a page about a problem": { lines: 45, make: (text) => doctorPage(text, { extension: text, editor: text, trusted: true }, "n") },
};

test("what the extension makes of hostile text shows its characters, and has no more lines than it should", () => {
  for (const [what, { lines, make }] of Object.entries(MADE)) {
    for (const { name: which, text } of HOSTILE_TEXT) {
      const made = make(text);
      assert.ok(!DECEIVES.test(made.replace(/[\n\t]/g, "")), `${what}: ${which}`);
      assert.ok(lines === undefined || made.trimEnd().split("\n").length <= lines, `${what}: ${which}`);
    }
  }
});

test("the document of a request shows code exactly", () => {
  for (const code of CODE) {
    assert.ok(fullText(permission(code), name, {}).includes(`\n$ ${code}\n`), code);
  }
});

test("the text cannot close its fence", () => {
  assert.equal(surfaces.hoverCode("a\n```\nb", "diff"), "````diff\na\n```\nb\n````");
});

test("only the functions for surfaces make text visible, and VS Code's windows get only their text", () => {
  const users = [...importGraph("src")].filter(([, imports]) => imports.includes("text/visible"));
  assert.deepEqual(users.map(([module]) => module), ["text/surfaces"]);
  for (const [module] of importGraph("src")) {
    const source = readFileSync(`src/${module}.ts`, "utf8");
    const messages = [...source.matchAll(/\.show(?:Information|Warning|Error)Message\(|setStatusBarMessage\(/g)];
    assert.ok(messages.length === 0 || module === "window/notify", `${module} shows messages by window/notify.ts`);
  }
});
