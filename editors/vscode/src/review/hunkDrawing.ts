/**
 * Computes how a hunk looks in the editor. Lines that are in the document are marked. Its other lines, which are not in
 * the document, are a block of code below them (otherLines.ts): the removed lines, or one proposed line. Pure.
 */

import type { Hunk } from "../model/protocol";
import { changedWords, type Span } from "./changedWords";
import { diffRuns } from "./lineDiff";
import type { LineRange } from "./lineRanges";
import { splitLines } from "./hunkText";

export interface HunkDrawing {
  /** Lines of the document that belong to the hunk: to be removed, or added if the hunk is applied. */
  readonly lines: readonly number[];
  readonly words: readonly (Span & { readonly line: number })[];
  /** The line above other lines that nothing in the document replaces. */
  readonly between: readonly number[];
}

/** Longer lines can run off the screen. */
const LONGEST = 120;
/** A block with more lines hides the code around it. */
const MOST_LINES = 40;
/**
 * The limit for comparing the lines of one hunk word by word (length times length), since this runs at each typing
 * pause.
 */
const MOST_COMPARED = 500_000;

/** The drawing of a hunk whose lines at `place` are unchanged. */
export function drawHunk(hunk: Hunk, place: LineRange, lineCount: number): HunkDrawing {
  const there = splitLines(hunk.applied ? hunk.newText : hunk.oldText);
  const others = splitLines(hunk.applied ? hunk.oldText : hunk.newText);
  const lines: number[] = [];
  const words: (Span & { line: number })[] = [];
  const between: number[] = [];
  const last = Math.max(0, lineCount - 1);
  let compared = 0;
  for (const run of diffRuns(there, others)) {
    const [count, otherCount] = [run.oldEnd - run.oldStart, run.newEnd - run.newStart];
    for (let index = 0; index < count; index += 1) {
      const line = Math.min(place.start + run.oldStart + index, last);
      lines.push(line);
      if (count === otherCount) {
        const [one, other] = [there[run.oldStart + index] ?? "", others[run.newStart + index] ?? ""];
        compared += one.length * other.length;
        const spans = compared > MOST_COMPARED ? [] : changedWords(one, other);
        words.push(...spans.map((span) => ({ ...span, line })));
      }
    }
    if (count === 0) {
      between.push(Math.min(Math.max(0, place.start + run.oldStart - 1), last));
    }
  }
  return { lines, words, between };
}

/**
 * The lines of the hunk that are not in the document, if they can be read in full in the editor. Unchanged lines between
 * them are part of the block. A hunk that is not applied shows only one line: more lines are shown in a diff.
 */
export function otherLines(hunk: Hunk): string[] {
  const [there, others] = hunk.applied ? [hunk.newText, hunk.oldText] : [hunk.oldText, hunk.newText];
  const runs = diffRuns(splitLines(there), splitLines(others)).filter((run) => run.newEnd > run.newStart);
  const block = splitLines(others).slice(runs[0]?.newStart ?? 0, runs.at(-1)?.newEnd ?? 0);
  const most = hunk.applied ? MOST_LINES : 1;
  return hunk.operation || block.length > most || block.some((text) => text.length > LONGEST) ? [] : block;
}

/** Can the whole hunk be read in the editor? Lines of the document always can, new lines only if they are drawn below. */
export function isFullyDrawn(hunk: Hunk): boolean {
  return hunk.applied || splitLines(hunk.newText).length === 0 || otherLines(hunk).length > 0;
}
