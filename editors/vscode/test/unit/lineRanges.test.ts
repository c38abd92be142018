import assert from "node:assert/strict";
import { test } from "node:test";
import { trackRange, trackRangeThrough, ChangeLog, lineChanges, type LineRange, type TextChange } from "../../src/review/lineRanges";

/** A text that is edited like in VS Code, and reports each edit. */
class Edited {
  constructor(public lines: string[]) {}

  edit(startLine: number, startCharacter: number, endLine: number, endCharacter: number, text: string): TextChange {
    const head = (this.lines[startLine] ?? "").slice(0, startCharacter);
    const tail = (this.lines[endLine] ?? "").slice(endCharacter);
    this.lines.splice(startLine, endLine - startLine + 1, ...`${head}${text}${tail}`.split("\n"));
    return { startLine, startCharacter, endLine, endCharacter, text };
  }

  carried(place: LineRange, changes: readonly TextChange[]): LineRange {
    return lineChanges(changes, (line) => this.lines[line]?.length ?? 0).reduce(trackRange, place);
  }
}

function after(place: LineRange, ...edit: [number, number, number, number, string]): LineRange {
  const text = new Edited(["zero", "one", "two", "three", "four", "five"]);
  return text.carried(place, [text.edit(...edit)]);
}

test("a range moves with edits above it, not with edits below", () => {
  assert.deepEqual(after({ start: 2, count: 2 }, 0, 0, 0, 0, "new\n"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 0, 4, 0, 4, "\n"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 0, 2, 1, 1, ""), { start: 1, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 5, 0, 5, 4, "x\ny"), { start: 2, count: 2 });
});

test("a new line right above or below is not part of it", () => {
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 0, 2, 0, "\n"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 1, 3, 1, 3, "\n  x"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 3, 5, 3, 5, "\n"), { start: 2, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 4, 0, 4, 0, "x\n"), { start: 2, count: 2 });
});

test("if its own lines are touched, it covers what replaced them", () => {
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 1, 2, 1, "x"), { start: 2, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 1, 2, 1, "\n"), { start: 2, count: 3 });
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 0, 4, 0, ""), { start: 2, count: 0 });
  assert.deepEqual(after({ start: 2, count: 2 }, 1, 0, 3, 0, ""), { start: 1, count: 1 });
});

test("of two insertions at the same place, the hunk's stays above", () => {
  assert.deepEqual(after({ start: 2, count: 0 }, 2, 0, 2, 0, "x\n"), { start: 2, count: 0 });
  assert.deepEqual(after({ start: 2, count: 0 }, 1, 3, 1, 3, "\nx"), { start: 2, count: 0 });
  assert.deepEqual(after({ start: 2, count: 0 }, 0, 0, 0, 0, "x\n"), { start: 3, count: 0 });
});

test("the place of an insertion is unknown if both its sides were replaced", () => {
  assert.equal(trackRangeThrough({ start: 2, count: 0 }, [{ first: 1, last: 3, newLast: 4 }]), undefined);
  assert.deepEqual(trackRangeThrough({ start: 2, count: 0 }, [{ first: 1, last: 2, newLast: 4 }]), { start: 4, count: 0 });
});

test("the changes of one event are listed from the last to the first", () => {
  const text = new Edited(["zero", "one", "two", "three"]);
  const changes = [text.edit(3, 5, 3, 5, "\nx"), text.edit(1, 3, 1, 3, "\ny"), text.edit(0, 4, 0, 4, "\nz")];
  assert.deepEqual(text.carried({ start: 2, count: 2 }, changes), { start: 4, count: 2 });
});

test("a range keeps its lines through any edits elsewhere", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 0; round < 3000; round += 1) {
    const own = ["OWN A", "OWN B", "OWN C"];
    const text = new Edited(["a", "", "bcd", ...own, "e", "", "fgh"]);
    let place: LineRange = { start: 3, count: 3 };
    for (let step = 0; step < 4; step += 1) {
      const above = random(2) === 0;
      const rows = above
        ? { from: 0, to: place.start }
        : { from: place.start + place.count, to: text.lines.length };
      if (rows.to <= rows.from) {
        continue;
      }
      const ends = [0, 1].map(() => {
        const line = rows.from + random(rows.to - rows.from);
        return [line, random((text.lines[line] ?? "").length + 1)] as const;
      });
      ends.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
      const [start, end] = ends;
      const inserted = ["", "x", "\n", "x\n", "\nx", "x\ny", "\n\n"][random(7)] ?? "";
      assert.ok(start && end);
      place = text.carried(place, [text.edit(start[0], start[1], end[0], end[1], inserted)]);
      assert.deepEqual(text.lines.slice(place.start, place.start + place.count), own);
    }
  }
});

test("a range of an older version is mapped to the current text", () => {
  const log = new ChangeLog(1);
  log.addChanges(2, [{ first: 0, last: 0, newLast: 1 }]);
  log.addChanges(3, [{ first: 0, last: 2, newLast: 0 }]);
  assert.deepEqual(log.trackToCurrent({ start: 5, count: 1 }, 1, 3), { start: 4, count: 1 });
  assert.deepEqual(log.trackToCurrent({ start: 5, count: 1 }, 2, 3), { start: 3, count: 1 });
  assert.deepEqual(log.trackToCurrent({ start: 5, count: 1 }, 3, 3), { start: 5, count: 1 });
  assert.equal(log.trackToCurrent({ start: 5, count: 1 }, 4, 3), undefined, "a version newer than the document");
  assert.equal(log.trackToCurrent({ start: 5, count: 1 }, 0, 3), undefined, "changes before the log are unknown");
});

test("a long log drops its start, and knows it", () => {
  const log = new ChangeLog(0);
  for (let version = 1; version <= 1500; version += 1) {
    log.addChanges(version, [{ first: 0, last: 0, newLast: 1 }]);
  }
  assert.equal(log.trackToCurrent({ start: 0, count: 1 }, 1, 1500), undefined);
  assert.deepEqual(log.trackToCurrent({ start: 0, count: 1 }, 1490, 1500), { start: 10, count: 1 });
});
