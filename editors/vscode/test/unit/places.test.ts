import assert from "node:assert/strict";
import { test } from "node:test";
import { carry, carryAll, ChangeLog, lineChanges, type Place, type TextChange } from "../../src/review/places";

/** A text that is edited like VS Code does it, and tells of each edit. */
class Edited {
  constructor(public lines: string[]) {}

  edit(startLine: number, startCharacter: number, endLine: number, endCharacter: number, text: string): TextChange {
    const head = (this.lines[startLine] ?? "").slice(0, startCharacter);
    const tail = (this.lines[endLine] ?? "").slice(endCharacter);
    this.lines.splice(startLine, endLine - startLine + 1, ...`${head}${text}${tail}`.split("\n"));
    return { startLine, startCharacter, endLine, endCharacter, text };
  }

  carried(place: Place, changes: readonly TextChange[]): Place {
    return lineChanges(changes, (line) => this.lines[line]?.length ?? 0).reduce(carry, place);
  }
}

function after(place: Place, ...edit: [number, number, number, number, string]): Place {
  const text = new Edited(["zero", "one", "two", "three", "four", "five"]);
  return text.carried(place, [text.edit(...edit)]);
}

test("a place follows what is typed above it, and not what is typed below", () => {
  assert.deepEqual(after({ start: 2, count: 2 }, 0, 0, 0, 0, "new\n"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 0, 4, 0, 4, "\n"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 0, 2, 1, 1, ""), { start: 1, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 5, 0, 5, 4, "x\ny"), { start: 2, count: 2 });
});

test("a new line right above or right below is not in it", () => {
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 0, 2, 0, "\n"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 1, 3, 1, 3, "\n  x"), { start: 3, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 3, 5, 3, 5, "\n"), { start: 2, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 4, 0, 4, 0, "x\n"), { start: 2, count: 2 });
});

test("where its own lines are touched it is what stands there now", () => {
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 1, 2, 1, "x"), { start: 2, count: 2 });
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 1, 2, 1, "\n"), { start: 2, count: 3 });
  assert.deepEqual(after({ start: 2, count: 2 }, 2, 0, 4, 0, ""), { start: 2, count: 0 });
  assert.deepEqual(after({ start: 2, count: 2 }, 1, 0, 3, 0, ""), { start: 1, count: 1 });
});

test("of two insertions at the same place that of the hunk stays above", () => {
  assert.deepEqual(after({ start: 2, count: 0 }, 2, 0, 2, 0, "x\n"), { start: 2, count: 0 });
  assert.deepEqual(after({ start: 2, count: 0 }, 1, 3, 1, 3, "\nx"), { start: 2, count: 0 });
  assert.deepEqual(after({ start: 2, count: 0 }, 0, 0, 0, 0, "x\n"), { start: 3, count: 0 });
});

test("an insertion whose both sides were replaced is not guessed", () => {
  assert.equal(carryAll({ start: 2, count: 0 }, [{ first: 1, last: 3, newLast: 4 }]), undefined);
  assert.deepEqual(carryAll({ start: 2, count: 0 }, [{ first: 1, last: 2, newLast: 4 }]), { start: 4, count: 0 });
});

test("several changes of one event are told from the last to the first", () => {
  const text = new Edited(["zero", "one", "two", "three"]);
  const changes = [text.edit(3, 5, 3, 5, "\nx"), text.edit(1, 3, 1, 3, "\ny"), text.edit(0, 4, 0, 4, "\nz")];
  assert.deepEqual(text.carried({ start: 2, count: 2 }, changes), { start: 4, count: 2 });
});

test("whatever is typed elsewhere, a place keeps its lines", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 0; round < 3000; round += 1) {
    const own = ["OWN A", "OWN B", "OWN C"];
    const text = new Edited(["a", "", "bcd", ...own, "e", "", "fgh"]);
    let place: Place = { start: 3, count: 3 };
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

test("what is told of an older version is carried to the text of now", () => {
  const log = new ChangeLog(1);
  log.add(2, [{ first: 0, last: 0, newLast: 1 }]);
  log.add(3, [{ first: 0, last: 2, newLast: 0 }]);
  assert.deepEqual(log.now({ start: 5, count: 1 }, 1, 3), { start: 4, count: 1 });
  assert.deepEqual(log.now({ start: 5, count: 1 }, 2, 3), { start: 3, count: 1 });
  assert.deepEqual(log.now({ start: 5, count: 1 }, 3, 3), { start: 5, count: 1 });
  assert.equal(log.now({ start: 5, count: 1 }, 4, 3), undefined, "that version is yet to come");
  assert.equal(log.now({ start: 5, count: 1 }, 0, 3), undefined, "what was before is not known");
});

test("a long log forgets its beginning, and knows that", () => {
  const log = new ChangeLog(0);
  for (let version = 1; version <= 1500; version += 1) {
    log.add(version, [{ first: 0, last: 0, newLast: 1 }]);
  }
  assert.equal(log.now({ start: 0, count: 1 }, 1, 1500), undefined);
  assert.deepEqual(log.now({ start: 0, count: 1 }, 1490, 1500), { start: 10, count: 1 });
});
