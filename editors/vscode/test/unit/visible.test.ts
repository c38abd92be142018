import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { code, fence, hidden, line, short } from "../../src/text/visible";
import { RANGES } from "../../src/text/visibleRanges";

const LUA = join(process.cwd(), "..", "neovim", "lua", "tark", "visible_ranges.lua");

test("the table is that of the Neovim client, which is compared with the server's", () => {
  const ranges = (text: string): string[] => text.match(/\b[0-9a-f]+-[0-9a-f]+\b/g) ?? [];
  assert.deepEqual(ranges(RANGES), ranges(readFileSync(LUA, "utf8").split("[[")[1] ?? ""));
});

test("the ends of each range are hidden, and what is beside it is not", () => {
  const table = [...RANGES.matchAll(/([0-9a-f]+)-([0-9a-f]+)/g)].map((each) => each.slice(1).map((end) => parseInt(end, 16)));
  for (const [first = 0, last = 0] of table) {
    assert.ok(hidden(first) && hidden(last));
    assert.ok(first === 0 || !hidden(first - 1));
    assert.ok(last === 0x10ffff || !hidden(last + 1));
  }
});

test("what cannot be seen becomes its code point", () => {
  assert.equal(line("a\r\nb\tc\n"), "a⏎b⇥c⏎");
  assert.equal(line("rm \u202e-rf\u2066 /\x1b[2K"), "rm \\u{202e}-rf\\u{2066} /\\u{1b}[2K");
  assert.equal(code("a\u00a0b\u200b\u3164c\n\td"), "a\\u{a0}b\\u{200b}\\u{3164}c\n\td");
  assert.equal(code("\u{e0041}\ufe0f\x00"), "\\u{e0041}\\u{fe0f}\\u{0}");
  assert.equal(code("ÄÖ 漢字 🥧"), "ÄÖ 漢字 🥧");
  assert.equal(code("\ud800"), "\\u{d800}");
});

test("no link, command or icon is made of it", () => {
  assert.equal(line("[x](command:evil)"), "[x] (command:evil)");
  assert.equal(line("![x][y]"), "![x] [y]");
  assert.equal(line("$(check) ok"), "$ (check) ok");
});

test("what is too long keeps its beginning and its end", () => {
  const cut = short(`${"a".repeat(500)}; rm -rf /`, 60);
  assert.equal(cut.length, 60);
  assert.ok(cut.startsWith("aaa") && cut.includes(" … ") && cut.endsWith("rm -rf /"));
  assert.equal(short("🥧".repeat(20), 20), "🥧".repeat(20));
});

test("a fence cannot be closed by what is in it", () => {
  assert.equal(fence("a\n```\nb", "diff"), "````diff\na\n```\nb\n````");
});
