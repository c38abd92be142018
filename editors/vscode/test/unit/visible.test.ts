import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { visibleText, isInvisible, visibleLine, visibleExcerpt, visibleProse } from "../../src/text/visible";
import { RANGES } from "../../src/text/visibleRanges";

const LUA = join(process.cwd(), "..", "neovim", "lua", "tark", "visible_ranges.lua");

test("the table is the one of the Neovim client, which is compared with the server's", () => {
  const ranges = (text: string): string[] => text.match(/\b[0-9a-f]+-[0-9a-f]+\b/g) ?? [];
  assert.deepEqual(ranges(RANGES), ranges(readFileSync(LUA, "utf8").split("[[")[1] ?? ""));
});

test("the ends of each range are invisible, and their neighbors are not", () => {
  const table = [...RANGES.matchAll(/([0-9a-f]+)-([0-9a-f]+)/g)].map((match) => match.slice(1).map((end) => parseInt(end, 16)));
  for (const [first = 0, last = 0] of table) {
    assert.ok(isInvisible(first) && isInvisible(last));
    assert.ok(first === 0 || !isInvisible(first - 1));
    assert.ok(last === 0x10ffff || !isInvisible(last + 1));
  }
});

test("invisible characters become their code points", () => {
  assert.equal(visibleLine("a\r\nb\tc\n"), "a⏎b⇥c⏎");
  assert.equal(visibleLine("rm \u202e-rf\u2066 /\x1b[2K"), "rm \\u{202e}-rf\\u{2066} /\\u{1b}[2K");
  assert.equal(visibleText("a\u00a0b\u200b\u3164c\n\td"), "a\\u{a0}b\\u{200b}\\u{3164}c\n\td");
  assert.equal(visibleText("\u{e0041}\ufe0f\x00"), "\\u{e0041}\\u{fe0f}\\u{0}");
  assert.equal(visibleText("ÄÖ 漢字 🥧"), "ÄÖ 漢字 🥧");
  assert.equal(visibleText("\ud800"), "\\u{d800}");
});

test("what prose needs stays in prose, and only there", () => {
  assert.equal(visibleText("⚠\ufe0f a\u00a0b"), "⚠\\u{fe0f} a\\u{a0}b");
  assert.equal(visibleProse("⚠\ufe0f a\u00a0b\r\n\u200d日\u3000本"), "⚠\ufe0f a\u00a0b\n\u200d日\u3000本");
  assert.equal(visibleProse("\u202e\u200b\u{e0041}\u001b"), "\\u{202e}\\u{200b}\\u{e0041}\\u{1b}");
});

test("a long text keeps its start and its end", () => {
  const cut = visibleExcerpt(`${"a".repeat(500)}; rm -rf /`, 60);
  assert.equal(cut.length, 60);
  assert.ok(cut.startsWith("aaa") && cut.includes(" … ") && cut.endsWith("rm -rf /"));
  assert.equal(visibleExcerpt("🥧".repeat(20), 20), "🥧".repeat(20));
});
