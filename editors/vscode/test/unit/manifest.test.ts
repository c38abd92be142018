/** What package.json promises: only stable API, and the rules for words on the screen (docs/contributing.md). */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Manifest {
  readonly enabledApiProposals?: unknown;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly configuration: readonly { readonly properties: Readonly<Record<string, object>> }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string; readonly args?: unknown; readonly when: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command?: string }[]>>;
  };
}

const MANIFEST = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
/** Menus that VS Code opens only to proposed API. */
const PROPOSED = ["multiDiffEditor/resource/title", "diffEditor/gutter/hunk", "diffEditor/gutter/selection", "scm/inputBox", "comments/commentThread/additionalActions"];

test("no proposed API is used", () => {
  assert.equal(MANIFEST.enabledApiProposals, undefined);
  assert.deepEqual(Object.keys(MANIFEST.contributes.menus).filter((menu) => PROPOSED.includes(menu)), []);
});

test("each command has a row in commands.ts", () => {
  const rows = new Set([...readFileSync("src/commands.ts", "utf8").matchAll(/^ {2}(\w+): .*=>/gm)].map(([, name]) => `tark.client.${name ?? ""}`));
  assert.deepEqual(MANIFEST.contributes.commands.map(({ command }) => command).filter((command) => !rows.has(command)), []);
});

test("all commands of menus exist", () => {
  const known = new Set(MANIFEST.contributes.commands.map(({ command }) => command));
  const used = Object.values(MANIFEST.contributes.menus).flatMap((rows) => rows.flatMap(({ command }) => (command === undefined ? [] : [command])));
  assert.ok(used.length > 20);
  assert.deepEqual(used.filter((command) => !known.has(command)), []);
});

const SMALL = new Set(["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"]);

function isTitleCase(title: string): boolean {
  return title.split(" ").every((word, index) => /^[^a-z]/.test(word) || (index > 0 && SMALL.has(word))) && !title.endsWith(".");
}

test("titles of commands and buttons are in title case, without a period", () => {
  const pages = readdirSync("src/chat/page").filter((file) => file.endsWith(".ts")).map((file) => readFileSync(`src/chat/page/${file}`, "utf8"));
  const buttons = pages.flatMap((text) => [...text.matchAll(/\bbutton\("([^"]+)"/g)].map(([, title]) => title ?? ""));
  assert.ok(buttons.length > 20);
  const titles = [...MANIFEST.contributes.commands.map(({ title }) => title), ...buttons];
  assert.deepEqual(titles.filter((title) => !isTitleCase(title)), []);
  assert.deepEqual(["Send now", "Go to the Chat", "Send Now."].filter(isTitleCase), ["Go to the Chat"]);
});

test("descriptions of settings are sentences", () => {
  const found: string[] = [];
  const walk = (value: unknown, key: string): void => {
    if (typeof value === "string") {
      found.push(...(/[dD]escription/.test(key) ? [value] : []));
    } else if (Array.isArray(value)) {
      value.forEach((each) => walk(each, key));
    } else if (value !== null && typeof value === "object") {
      Object.entries(value).forEach(([name, each]) => walk(each, name));
    }
  };
  MANIFEST.contributes.configuration.forEach(({ properties }) => walk(properties, ""));
  assert.ok(found.length > 40);
  assert.deepEqual(found.filter((text) => !/^\P{Ll}.*\.$/su.test(text)), []);
});

test("an ellipsis is one character", () => {
  assert.doesNotMatch(JSON.stringify(MANIFEST.contributes), /\w\.\.\./);
});

test("each review key works in the editor and in the chat", () => {
  const keys = MANIFEST.contributes.keybindings.filter(({ key }) => key.includes("alt+"));
  const of = (inChat: boolean): string[] => keys.filter(({ args }) => (args !== undefined) === inChat).map(({ command, key }) => `${command} ${key}`);
  assert.equal(of(false).length, 4);
  assert.deepEqual(of(true), of(false));
  assert.deepEqual(keys.filter(({ args, when }) => (args !== undefined) !== when.startsWith("tark.chatFocused && ")), []);
});
