/** Modules of src/ import downwards only, and never in a circle. eslint reports the same with a line number. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { forbiddenImport, importCycles, importGraph, LAYERS } from "../../layers.mjs";

test("no modules import one another in a circle", () => {
  const graph = importGraph("src");
  assert.ok(graph.get("extension")?.includes("commands"), "the graph has the imports");
  assert.deepEqual(importCycles(graph), []);
});

test("no module imports a higher layer", () => {
  const found = [...importGraph("src")].flatMap(([from, targets]) =>
    targets.flatMap((to: string) => forbiddenImport(from, to) ?? []),
  );
  assert.deepEqual(found, []);
});

test("every folder of src/ is a layer", () => {
  const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(folders.map(({ name }) => name).sort(), [...LAYERS].sort());
});

test("a circle is found, however long", () => {
  const graph = new Map([["a", ["b"]], ["b", ["c"]], ["c", ["a"]], ["d", ["a"]]]);
  assert.deepEqual(importCycles(graph).map((group: string[]) => group.toSorted()), [["a", "b", "c"]]);
  assert.deepEqual(importCycles(new Map([["a", ["b"]], ["b", []]])), []);
});

test("an import of a higher layer is forbidden", () => {
  assert.equal(forbiddenImport("turns/turns", "model/state"), undefined);
  assert.equal(forbiddenImport("commands", "chat/view"), undefined);
  assert.match(forbiddenImport("model/state", "turns/turns") ?? "", /model is below turns/);
  assert.match(forbiddenImport("chat/view", "commands") ?? "", /chat is below src/);
  assert.match(forbiddenImport("chat/page/start", "chat/view") ?? "", /imports only/);
  assert.match(forbiddenImport("chat/view", "chat/page/start") ?? "", /only chat\/page imports/);
});

test("text and model do not depend on VS Code", () => {
  const modules = [...importGraph("src").keys()].filter((path) => /^(text|model)\//.test(path));
  assert.ok(modules.length > 10);
  assert.deepEqual(modules.filter((path) => readFileSync(`src/${path}.ts`, "utf8").includes('from "vscode')), []);
});
