/** What a code block says about its file, in the forms that models use, and how code is fitted to a cursor. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { languageId, languageOf, readBlock } from "../../src/text/codeBlocks";
import { fitToCursor } from "../../src/text/insertion";

const CODE = "x = 1\n";
const NAMED: readonly (readonly [info: string, before: string, text: string, path: string | undefined, language: string])[] = [
  // the fence
  ['python title="x.py"', "", CODE, "x.py", "python"],
  ["python title='src/a b.py'", "", CODE, "src/a b.py", "python"],
  ['ts {filename="src/x.ts"}', "", CODE, "src/x.ts", "ts"],
  ["js file=src/x.js showLineNumbers", "", CODE, "src/x.js", "js"],
  ["js path: lib/x.js", "", CODE, "lib/x.js", "js"],
  ['python title="An example"', "", CODE, undefined, "python"],
  ["py:src/x.py", "", CODE, "src/x.py", "py"],
  ["python:src/x.py:10-20", "", CODE, "src/x.py", "python"],
  ["src/x.py", "", CODE, "src/x.py", "py"],
  ["x.tsx", "", CODE, "x.tsx", "tsx"],
  ["python src/x.py", "", CODE, "src/x.py", "python"],
  ["python src\\x.py", "", CODE, "src/x.py", "python"],
  ["12:15:app/x.ts", "", CODE, "app/x.ts", "ts"],
  ["Dockerfile", "", CODE, "Dockerfile", "dockerfile"],
  ["python", "", CODE, undefined, "python"],
  ["c++", "", CODE, undefined, "c++"],
  ["", "", CODE, undefined, ""],
  ["rust,ignore", "", CODE, undefined, "rust"],
  ["```", "", CODE, undefined, ""],
  // a first comment line
  ["ts", "", `// path: src/x.ts\n${CODE}`, "src/x.ts", "ts"],
  ["ts", "", `// src/x.ts\n\n${CODE}`, "src/x.ts", "ts"],
  ["", "", `# src/x.py\n${CODE}`, "src/x.py", "py"],
  ["html", "", `<!-- web/x.html -->\n${CODE}`, "web/x.html", "html"],
  ["css", "", `/* File: web/x.css */\n${CODE}`, "web/x.css", "css"],
  ["sql", "", `-- db/x.sql\n${CODE}`, "db/x.sql", "sql"],
  ["", "", `# filename: Procfile\n${CODE}`, "Procfile", ""],
  ["js", "", `// console.log\n${CODE}`, undefined, "js"],
  ["js", "", `// and/or\n${CODE}`, undefined, "js"],
  ["js", "", `// see src/x.js\n${CODE}`, undefined, "js"],
  ["sh", "", `#!/usr/bin/env.sh\n${CODE}`, undefined, "sh"],
  // the text before
  ["python", "src/x.py", CODE, "src/x.py", "python"], // **src/x.py**
  ["python", "In src/x.py:10-20, change this:", CODE, "src/x.py", "python"],
  ["python", "First.\nThen in x.py:", CODE, "x.py", "python"],
  ["python", "See x.py.\nThen:", CODE, undefined, "python"],
  ["python", "It is in x.py or y.py:", CODE, undefined, "python"],
  ["python", "It reads config.json in x.py:", CODE, "x.py", "python"],
  ["json", "It reads config.json in x.py:", CODE, "config.json", "json"],
  ["bash", "Run src/x.py:", CODE, undefined, "bash"],
  ["python", "For some words, e.g. these, i.e. self.value:", CODE, undefined, "python"],
  ["python", "See https://example.org/x.py:", CODE, undefined, "python"],
  ["", "app/[id]/page.tsx (new):", CODE, "app/[id]/page.tsx", ""],
  // hostile ones: the server refuses them, with a sentence
  ["../../etc/passwd.txt", "", CODE, "../../etc/passwd.txt", "txt"],
  ['python title="file:///etc/x.py"', "", CODE, "file:///etc/x.py", "python"],
  ["python:C:\\x.py", "", CODE, "C:\\x.py", "python"],
];

test("the file of a block", () => {
  for (const [info, before, text, path, language] of NAMED) {
    const read = readBlock({ info, before, text });
    assert.deepEqual([read.path, read.language], [path, language], JSON.stringify([info, before, text]));
    assert.equal(read.text, CODE === text || path === undefined ? text : CODE);
    assert.equal(languageOf(info), info === "" || read.language === language ? languageOf(info) : language);
  }
});

test("a diff keeps its lines", () => {
  const text = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-x\n+y\n";
  assert.deepEqual(readBlock({ info: "diff", before: "", text }), { language: "diff", text });
});

test("languages have the ids of VS Code", () => {
  const ids = ["py", "TS", "sh", "yml", "c++", "nonesuch", ""].map((language) => languageId({ language: language.toLowerCase() }));
  assert.deepEqual(ids, ["python", "typescript", "shellscript", "yaml", "cpp", "", ""]);
  assert.equal(languageId({ language: "", path: "a/b.rs" }), "rust");
});

test("a hostile block takes no time", () => {
  for (const text of ["/".repeat(2_000_000), "a/".repeat(1_000_000), "// " + "a".repeat(2_000_000), "\u202e".repeat(1_000_000), "x".repeat(10) + "\n".repeat(1_000_000)]) {
    const began = performance.now();
    readBlock({ info: text, before: text, text });
    fitToCursor(text, "  ", "");
    assert.ok(performance.now() - began < 2000, text.slice(0, 10));
  }
});

test("code is fitted to the cursor", () => {
  const table: readonly (readonly [code: string, before: string, after: string, fitted: string])[] = [
    ["a\n  b\n", "", "", "a\n  b"],
    ["a\n  b\n\nc\n", "    ", "", "a\n      b\n\n    c"],
    ["    a\n      b\n", "  ", "", "a\n    b"],
    ["a\nb\n", "\t", "return", "a\n\tb\n\t"],
    ["a\n", "  x = ", " + 1", "a"],
    ["a\nb\n", "  x = ", "", "a\n  b"],
    ["\n\na\n\n", "", "x", "a\n"],
    ["", "", "", ""],
  ];
  for (const [code, before, after, fitted] of table) {
    assert.equal(fitToCursor(code, before, after), fitted, JSON.stringify([code, before, after]));
  }
});
