import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk } from "../../src/model/protocol";
import { changedWords } from "../../src/review/changedWords";
import { rangesOnSide, diffSide } from "../../src/review/diffText";
import { drawHunk, isFullyDrawn, otherLines } from "../../src/review/hunkDrawing";
import { diffRuns } from "../../src/review/lineDiff";
import { isUncontested, decisionCommands, decisionMessage, decisionTitles } from "../../src/review/decisionCommands";
import { ChangeLog } from "../../src/review/lineRanges";
import { PlacedHunks, type DocumentText } from "../../src/review/placedHunks";
import { isInView, nearestRange, nextRow, touchedRanges } from "../../src/review/selection";
import { fileRows, requestRows } from "../../src/review/treeRows";
import { reasonInBrackets, countChanges, splitLines, lineCounts, hunkTitle } from "../../src/review/hunkText";

const URI = "file:///w/prices.py";
const name = (uri: string): string => uri.replace("file:///w/", "");

function hunk(start: number, oldText: string, newText: string, more: Partial<Hunk> = {}): Hunk {
  const lines = splitLines(more.applied ? newText : oldText).length;
  const range = { start: { line: start, character: 0 }, end: { line: start + lines, character: 0 } };
  return { hunkId: "h1", turnId: "t1", range, oldText, newText, applied: false, state: "pending", ...more };
}

function text(lines: string[], version = 1, isDirty = false): DocumentText {
  return { version, isDirty, lineCount: lines.length, line: (number) => lines[number] ?? "" };
}

test("only differing lines are runs", () => {
  assert.deepEqual(diffRuns(["a", "b", "c"], ["a", "x", "c", "d"]), [
    { oldStart: 1, oldEnd: 2, newStart: 1, newEnd: 2 },
    { oldStart: 3, oldEnd: 3, newStart: 3, newEnd: 4 },
  ]);
  assert.deepEqual(diffRuns([], ["a"]), [{ oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 1 }]);
  assert.deepEqual(diffRuns(["a"], ["a"]), []);
});

test("runs of many lines cost little", () => {
  const many = (word: string): string[] => Array.from({ length: 5000 }, (_, index) => `${word} ${String(index)}`);
  assert.deepEqual(diffRuns(many("a"), many("b")), [{ oldStart: 0, oldEnd: 5000, newStart: 0, newEnd: 5000 }]);
});

test("changed words are marked, unless the lines differ too much", () => {
  assert.deepEqual(changedWords("return total(prices)", "return sum(prices)"), [{ from: 7, to: 12 }]);
  assert.deepEqual(changedWords("abc", "xyz"), []);
});

test("the title and size of a hunk", () => {
  const one = hunk(0, "a\n", "\n  def area(radius):\nb\n");
  assert.equal(lineCounts([one]), "+3 −1");
  assert.equal(hunkTitle(one, name), "+3 −1 def area(radius):");
  assert.equal(hunkTitle({ ...one, state: "conflict", outsideSelection: true }, name), "conflict: +3 −1 def area(radius): (outside the selection)");
  assert.equal(hunkTitle({ ...one, operation: { kind: "move", target: "file:///w/lib/c.py" } }, name), "moves this file to lib/c.py");
  assert.equal(lineCounts([{ ...one, oldText: "", newText: "" }]), "", "no size without added or removed lines");
  assert.equal(reasonInBrackets({ ...one, reason: "the person changed these lines" }), "");
  assert.equal(reasonInBrackets({ ...one, reason: "the editor refused it" }), " (the editor refused it)");
  assert.equal(countChanges([{ uri: "a", hunk: one }, { uri: "b", hunk: one }, { uri: "b", hunk: one }]), "3 changes in 2 files");
});

test("unsafe characters in a title are made visible", () => {
  const evil = hunk(0, "", "[x](command:evil)\u202e $(check)\n");
  assert.equal(hunkTitle(evil, name), "+1 −0 [x](command:evil)\\u{202e} $(check)");
});

test("a hunk is pending where its lines are, and moves with edits", () => {
  const log = new ChangeLog(1);
  const placed = new PlacedHunks(log);
  log.addChanges(2, [{ first: 0, last: 0, newLast: 1 }]);
  placed.setHunks({ uri: URI, version: 1, hunks: [hunk(1, "b\n", "B\n")] }, text(["new", "a", "b"], 2, true));
  assert.deepEqual(placed.sortedHunks().map(({ place, look }) => [place, look]), [[{ start: 2, count: 1 }, "pending"]]);
});

test("a hunk is not drawn if the text differs from the server's", () => {
  const drawnOf = (version: number | null, now: DocumentText): unknown[] => {
    const placed = new PlacedHunks(new ChangeLog(1));
    placed.setHunks({ uri: URI, version, hunks: [hunk(1, "b\n", "B\n")] }, now);
    return placed.sortedHunks();
  };
  assert.deepEqual(drawnOf(1, text(["a", "x"])), []);
  assert.deepEqual(drawnOf(7, text(["a", "b"])), [], "a version newer than the document");
  assert.deepEqual(drawnOf(null, text(["a", "b"], 1, true)), [], "of the file, while the document has unsaved changes");
  assert.equal(drawnOf(null, text(["a", "b"], 1, false)).length, 1);
});

test("typing in a hunk makes it changed at once; undoing that makes it pending again", () => {
  const placed = new PlacedHunks(new ChangeLog(1));
  placed.setHunks({ uri: URI, version: 1, hunks: [hunk(1, "b\n", "B\n")] }, text(["a", "b"]));
  assert.ok(placed.applyChanges([{ first: 1, last: 2, newLast: 2 }], text(["a", "bx"], 2)));
  assert.equal(placed.sortedHunks()[0]?.look, "changed");
  assert.ok(placed.applyChanges([{ first: 1, last: 2, newLast: 2 }], text(["a", "b"], 3)));
  assert.equal(placed.sortedHunks()[0]?.look, "pending");
  assert.ok(!placed.applyChanges([{ first: 0, last: 1, newLast: 1 }], text(["ax", "b"], 4)));
});

test("a hunk that was just accepted is not drawn until the server reports it", () => {
  const placed = new PlacedHunks(new ChangeLog(1));
  placed.setHunks({ uri: URI, version: 1, hunks: [hunk(1, "b\n", "B\nC\n")] }, text(["a", "b", "d"]));
  placed.applyChanges([{ first: 1, last: 2, newLast: 3 }], text(["a", "B", "C", "d"], 2));
  assert.deepEqual(placed.sortedHunks(), []);
});

test("only the lines that differ are marked, with their changed words", () => {
  const one = hunk(1, "total(a)\nkeep\n", "sum(a)\nkeep\nnew\n");
  assert.deepEqual(drawHunk(one, { start: 1, count: 2 }, 9), { lines: [1], words: [{ line: 1, from: 0, to: 5 }], between: [2] });
  const applied = hunk(1, "total(a)\nkeep\n", "sum(a)\nkeep\nnew\n", { applied: true });
  assert.deepEqual(drawHunk(applied, { start: 1, count: 3 }, 9), { lines: [1, 3], words: [{ line: 1, from: 0, to: 3 }], between: [] });
});

test("all lines of a deletion are marked, even if fewer lines replace them", () => {
  assert.deepEqual(drawHunk(hunk(0, "a\nb\nc\n", "x\n"), { start: 0, count: 3 }, 3).lines, [0, 1, 2]);
  assert.deepEqual(drawHunk(hunk(0, "", "x\n"), { start: 0, count: 0 }, 3).between, [0], "above the first line");
});

test("removed lines are a block of code with their own indentation", () => {
  const eight = "    found = []\n\tfor item in items:\n    a\n    b\n    c\n    d\n    e\n    return found\n";
  assert.deepEqual(otherLines(hunk(1, eight, "    return 1\n", { applied: true })), splitLines(eight));
  assert.deepEqual(otherLines(hunk(1, "a\nkeep\nb\n", "keep\n", { applied: true })), ["a", "keep", "b"]);
  assert.deepEqual(otherLines(hunk(1, "keep\na\n", "keep\nb\n", { applied: true })), ["a"]);
  assert.deepEqual(otherLines(hunk(1, "", "new\n", { applied: true })), [], "nothing was removed");
});

test("of a proposed change one line is drawn; more lines, and long ones, are shown in a diff first", () => {
  assert.deepEqual(otherLines(hunk(0, "a\n", "b\n")), ["b"]);
  assert.ok(isFullyDrawn(hunk(0, "a\n", "b\n")));
  assert.ok(isFullyDrawn(hunk(0, "a\nb\n", "")), "removed lines are in the document");
  assert.deepEqual(otherLines(hunk(0, "a\n", "b\nc\n")), []);
  assert.ok(!isFullyDrawn(hunk(0, "a\n", "b\nc\n")));
  assert.ok(!isFullyDrawn(hunk(0, "a\n", `${"b".repeat(200)}\n`)));
  assert.ok(isFullyDrawn(hunk(0, "a\n", "b\nc\n", { applied: true })));
});

test("the two sides of a diff", () => {
  const lines = ["a", "b", "c", "D"];
  const shown = [
    { hunk: hunk(1, "b\n", "B1\nB2\n"), place: { start: 1, count: 1 } },
    { hunk: hunk(3, "d\n", "D\n", { hunkId: "h2", applied: true }), place: { start: 3, count: 1 } },
  ];
  assert.equal(diffSide(lines, shown, "before"), "a\nb\nc\nd");
  assert.equal(diffSide(lines, shown, "after"), "a\nB1\nB2\nc\nD");
  assert.deepEqual(rangesOnSide(shown, "before"), [{ start: 1, count: 1 }, { start: 3, count: 1 }]);
  assert.deepEqual(rangesOnSide(shown, "after"), [{ start: 1, count: 2 }, { start: 4, count: 1 }]);
  const conflict = { hunk: hunk(1, "b\n", "B\n", { state: "conflict" }), place: { start: 1, count: 1 } };
  assert.equal(diffSide(["a", "typed"], [conflict], "before"), "a\ntyped");
  assert.equal(diffSide(["a", "typed"], [conflict], "after"), "a\nB");
  const removal = { hunk: hunk(0, "a\n", "", { operation: { kind: "remove" } }), place: { start: 0, count: 1 } };
  assert.equal(diffSide(["a"], [removal], "after"), "");
  assert.equal(diffSide(undefined, [{ hunk: hunk(0, "", "x\n"), place: { start: 0, count: 0 } }], "after"), "x");
});

test("hunks are decided in one command, conflicts in one each", () => {
  const plain = (id: string): { hunk: Hunk; typedOver: boolean } => ({ hunk: hunk(0, "a", "b", { hunkId: id }), typedOver: false });
  const conflict = { hunk: hunk(0, "a", "b", { hunkId: "c", state: "conflict" }), typedOver: false };
  assert.deepEqual(decisionCommands([plain("a"), conflict, plain("b")], "accept"), [
    { command: "tark.hunk.accept", argument: { hunkIds: ["a", "b"] } },
    { command: "tark.hunk.edit", argument: { hunkId: "c", newText: "b", accept: true } },
  ]);
  assert.deepEqual(decisionCommands([plain("a"), conflict], "reject"), [{ command: "tark.hunk.reject", argument: { hunkIds: ["a", "c"] } }]);
  const typed = { hunk: hunk(0, "a", "b", { hunkId: "d", applied: true }), typedOver: true };
  assert.deepEqual(decisionCommands([typed], "reject"), [{ command: "tark.hunk.accept", argument: { hunkIds: ["d"] } }]);
});

test("conflicts, and hunks about to become one, are not decided with others", () => {
  assert.ok(isUncontested({ hunk: hunk(0, "a", "b"), typedOver: false }));
  assert.ok(!isUncontested({ hunk: hunk(0, "a", "b"), typedOver: true }));
  assert.ok(!isUncontested({ hunk: hunk(0, "a", "b", { state: "conflict" }), typedOver: false }));
});

test("the message about a decision says kept or undid if the change was applied", () => {
  const [one, applied] = [hunk(0, "a", "b"), hunk(0, "a", "b", { applied: true })];
  const left = [{ uri: URI, hunk: one }];
  const done = { done: 1, problems: new Set<string>() };
  assert.equal(decisionMessage("accept", done, [one], left), "accepted 1 change, 1 change in 1 file left");
  assert.equal(decisionMessage("accept", done, [applied], []), "kept 1 change, nothing left to review");
  assert.equal(decisionMessage("reject", done, [applied], []), "undid 1 change, nothing left to review");
  const problems = new Set(["hunkIds: the person undid it"]);
  assert.equal(decisionMessage("reject", { done: 2, problems }, [one], []), "rejected 2 changes, not rejected: you undid it");
  assert.equal(decisionMessage("reject", { done: 0, problems }, [applied], []), "not undone: you undid it");
  assert.deepEqual([decisionTitles(true), decisionTitles(false)], [["Keep", "Undo"], ["Accept", "Reject"]]);
});

test("the hunks at a cursor or in a selection", () => {
  const places = [
    { start: 2, count: 2 },
    { start: 6, count: 0 },
  ];
  assert.deepEqual(touchedRanges(places, 3, 3), [0]);
  assert.deepEqual(touchedRanges(places, 4, 4), [0], "right below it");
  assert.deepEqual(touchedRanges(places, 5, 5), [1]);
  assert.deepEqual(touchedRanges(places, 0, 9), [0, 1]);
  assert.deepEqual(touchedRanges(places, 9, 9), []);
  assert.equal(nearestRange(places, 9), 1);
  assert.equal(nearestRange([], 9), undefined);
  assert.equal(nextRow(places, 0, 1), 2);
  assert.equal(nextRow(places, 2, 1), 5);
  assert.equal(nextRow(places, 5, 1), undefined);
  assert.equal(nextRow(places, 5, -1), 2);
});

test("the list of changes has files with counts, and pending requests", () => {
  const known = new Map([
    ["file:///w/b.py", { uri: "file:///w/b.py", hunks: [hunk(3, "", "x\n", { hunkId: "2" }), hunk(1, "a\n", "", { hunkId: "1", state: "conflict" })] }],
    ["file:///w/a.py", { uri: "file:///w/a.py", hunks: [hunk(0, "a\n", "b\n")] }],
  ]);
  const found = fileRows(known, name);
  assert.deepEqual(found.map(({ uri, description }) => [uri, description]), [
    ["file:///w/a.py", "+1 −1 · 1 change"],
    ["file:///w/b.py", "+1 −1 · 2 changes · 1 conflict"],
  ]);
  assert.deepEqual(found[1]?.hunks.map((row) => row.label), ["conflict: +0 −1 a", "+1 −0 x"]);
  const input = { requestId: "i", sessionId: "s", turnId: "t", question: " Which\none? ", options: [], multiple: false, freeText: true };
  assert.deepEqual(requestRows([], [input]), [{ kind: "input", requestId: "i", label: "Which⏎one?", description: "question" }]);
});

test("a hunk is in view if all its lines are on the screen", () => {
  const screen = [{ first: 10, last: 20 }, { first: 30, last: 40 }]; // lines 21 to 29 are folded
  const cases: [start: number, count: number, expected: boolean][] = [
    [10, 11, true],
    [9, 3, false],
    [19, 3, false],
    [20, 12, false],
    [25, 1, false],
    [30, 1, true],
    [11, 0, true], // only removed lines, below line 10
    [10, 0, false],
    [41, 0, true],
  ];
  for (const [start, count, expected] of cases) {
    assert.equal(isInView({ start, count }, screen), expected, `${String(start)} ${String(count)}`);
  }
});
