/** The extension uses only colors that always exist: those of an extension are transparent if it is disabled. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const NAMED = /["'`](?<part>[A-Za-z]+)\.[\w.]*(?:[bB]ackground|[fF]oreground|[bB]order)["'`]/g;
/** Prefixes of colors of VS Code itself. */
const CORE = new Set(["editor", "diffEditor", "editorOverviewRuler", "editorWarning", "list", "statusBarItem"]);

test("all colors are defined by VS Code itself", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const named = sources.flatMap((name) => [...readFileSync(join("src", name), "utf8").matchAll(NAMED)].map(({ groups }) => groups?.["part"] ?? ""));
  assert.ok(named.length > 5);
  assert.deepEqual(named.filter((part) => !CORE.has(part)), []);
});
