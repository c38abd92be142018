/** Finds the words of a line that differ from those of another line. Pure. */

import { diffRuns } from "./lineDiff";

/** Characters [from, to) of a line. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const LONGEST_LINE = 500;
/** If a larger share of both lines differs, marking words does not help. */
const MOST_CHANGED = 0.6;
/** Words, runs of whitespace, and single other characters. */
const WORD = /[\p{L}\p{N}_]+|\s+|./gu;

/** The spans of `one` that `other` does not have. Empty if the lines have too little in common. */
export function changedWords(one: string, other: string): Span[] {
  if (one === other || one === "" || other === "" || Math.max(one.length, other.length) > LONGEST_LINE) {
    return [];
  }
  const [words, others] = [one.match(WORD) ?? [], other.match(WORD) ?? []];
  const found = diffRuns(words, others);
  const size = (some: readonly string[], from: number, to: number): number => some.slice(from, to).join("").length;
  const changed = found.reduce(
    (sum, run) => sum + size(words, run.oldStart, run.oldEnd) + size(others, run.newStart, run.newEnd),
    0,
  );
  if (changed > MOST_CHANGED * (one.length + other.length)) {
    return [];
  }
  return found
    .filter((run) => run.oldEnd > run.oldStart)
    .map((run) => ({ from: size(words, 0, run.oldStart), to: size(words, 0, run.oldEnd) }));
}
