/** What package.json promises: only stable API, and one word for each decision. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Manifest {
  readonly enabledApiProposals?: unknown;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
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
