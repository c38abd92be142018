/**
 * Computes how a hunk looks in the editor. Lines that are in the document are marked. VS Code has no virtual lines for
 * extensions, so other lines are shortened to ghost text at the end of a line; the hover and the diff show them whole.
 * Pure.
 */

import type { Hunk } from "../model/protocol";
import { documentText } from "../text/surfaces";
import { changedWords, type Span } from "./changedWords";
import { diffRuns } from "./lineDiff";
import type { LineRange } from "./lineRanges";
import { splitLines } from "./hunkText";

export interface GhostText {
  /** The line that has the text at its end. */
  readonly line: number;
  readonly text: string;
  /** The text was shortened. */
  readonly isCut: boolean;
}

export interface HunkDrawing {
  /** Lines of the document that belong to the hunk: removed, or added if the hunk is applied. */
  readonly lines: readonly number[];
  readonly words: readonly (Span & { readonly line: number })[];
  readonly ghosts: readonly GhostText[];
}

const LONGEST = 160;
/**
 * The limit for comparing the lines of one hunk word by word (length times length), since this runs at each typing
 * pause.
 */
const MOST_COMPARED = 500_000;
/** Prefixes of ghost text. */
const SIGNS = { added: "+ ", removed: "− " };

/** The drawing of a hunk whose lines at `place` are unchanged. */
export function drawHunk(hunk: Hunk, place: LineRange, lineCount: number): HunkDrawing {
  const there = splitLines(hunk.applied ? hunk.newText : hunk.oldText);
  const others = splitLines(hunk.applied ? hunk.oldText : hunk.newText);
  const lines: number[] = [];
  const words: (Span & { line: number })[] = [];
  const ghosts: GhostText[] = [];
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
    const at = place.start + run.oldStart;
    if (count === 0 && otherCount > 0) {
      const above = Math.min(Math.max(0, at - 1), last);
      ghosts.push({ line: above, ...ghostText(hunk, others.slice(run.newStart, run.newEnd), at === 0) });
    }
    for (let index = 0; index < Math.min(count, otherCount); index += 1) {
      const isLast = index === Math.min(count, otherCount) - 1;
      const own = others.slice(run.newStart + index, isLast ? run.newEnd : run.newStart + index + 1);
      ghosts.push({ line: Math.min(at + index, last), ...ghostText(hunk, own, false, there[run.oldStart + index]) });
    }
  }
  return { lines, words, ghosts };
}

/** Can the whole hunk be read in the editor? Removed lines can; ghost text can be shortened. */
export function isFullyDrawn(hunk: Hunk): boolean {
  return drawHunk(hunk, { start: 0, count: 0 }, 1).ghosts.every(({ isCut }) => !isCut);
}

/** `isOnTop`: the lines go above the first line. `beside`: the line that the first of them replaces. */
function ghostText(hunk: Hunk, lines: readonly string[], isOnTop: boolean, beside?: string): Omit<GhostText, "line"> {
  const sign = (isOnTop ? "↑ " : "") + (hunk.applied ? SIGNS.removed : SIGNS.added);
  const [first = ""] = lines;
  let text = linePiece(first, beside ?? first);
  let shown = 1;
  for (const line of lines.slice(1)) {
    const more = `${text} ⏎ ${linePiece(line, lines[shown - 1] ?? "")}`;
    if (more.length > LONGEST) {
      break;
    }
    text = more;
    shown += 1;
  }
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  const left = lines.length - shown;
  const more = left > 0 ? ` … ${String(left)} more` : "";
  return { text: `${sign}${cut}${more}`, isCut: left > 0 || cut !== text };
}

/** A line with visible indentation if it differs from the other line's: in Python it can be the change. */
function linePiece(line: string, other: string): string {
  const blanks = (text: string): string => /^[ \t]*/.exec(text)?.[0] ?? "";
  const depth = blanks(line).replaceAll(" ", "·").replaceAll("\t", "⇥") || "⇤";
  const text = documentText(line).replaceAll("\t", " ").trim();
  return text === "" || blanks(line) === blanks(other) ? text : depth + text;
}
