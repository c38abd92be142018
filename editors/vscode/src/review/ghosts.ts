/**
 * What a hunk looks like in the editor. The lines that stand are marked; those that do not stand there cannot be drawn
 * as lines (VS Code has no virtual lines for extensions), so they stand in few words at the end of the line they belong
 * to, and whole in the hover and in the diff. Pure.
 */

import type { Hunk } from "../model/protocol";
import { code } from "../text/visible";
import { changedWords, type Span } from "./changedWords";
import { runs } from "./lineDiff";
import type { Place } from "./places";
import { linesOf } from "./words";

export interface Ghost {
  /** The line at whose end it stands. */
  readonly line: number;
  readonly text: string;
  /** More belongs to it than is said. */
  readonly isCut: boolean;
}

export interface Drawing {
  /** Lines that stand and are of the hunk: those that would go, or that came. */
  readonly lines: readonly number[];
  readonly words: readonly (Span & { readonly line: number })[];
  readonly ghosts: readonly Ghost[];
}

const LONGEST = 160;
/** Characters times characters of lines that are compared word by word, of one hunk: it is done at each pause of typing. */
const MOST_COMPARED = 500_000;
/** How the lines that do not stand there are told from the text before them. */
const SIGNS = { added: "+ ", removed: "− " };

/** Of a hunk whose lines stand at `place` as they did when it was made. */
export function drawn(hunk: Hunk, place: Place, lineCount: number): Drawing {
  const there = linesOf(hunk.applied ? hunk.newText : hunk.oldText);
  const others = linesOf(hunk.applied ? hunk.oldText : hunk.newText);
  const lines: number[] = [];
  const words: (Span & { line: number })[] = [];
  const ghosts: Ghost[] = [];
  const last = Math.max(0, lineCount - 1);
  let compared = 0;
  for (const run of runs(there, others)) {
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
      ghosts.push({ line: above, ...ghost(hunk, others.slice(run.newStart, run.newEnd), at === 0) });
    }
    for (let index = 0; index < Math.min(count, otherCount); index += 1) {
      const isLast = index === Math.min(count, otherCount) - 1;
      const own = others.slice(run.newStart + index, isLast ? run.newEnd : run.newStart + index + 1);
      ghosts.push({ line: Math.min(at + index, last), ...ghost(hunk, own, false, there[run.oldStart + index]) });
    }
  }
  return { lines, words, ghosts };
}

/** Can the whole hunk be read in the editor? What goes stands there; what comes may be cut. */
export function drawsAll(hunk: Hunk): boolean {
  return drawn(hunk, { start: 0, count: 0 }, 1).ghosts.every(({ isCut }) => !isCut);
}

/** Of lines above the first one that is said. `beside`: the line that the first of them stands beside. */
function ghost(hunk: Hunk, lines: readonly string[], isOnTop: boolean, beside?: string): Omit<Ghost, "line"> {
  const sign = (isOnTop ? "↑ " : "") + (hunk.applied ? SIGNS.removed : SIGNS.added);
  const [first = ""] = lines;
  let text = piece(first, beside ?? first);
  let shown = 1;
  for (const line of lines.slice(1)) {
    const more = `${text} ⏎ ${piece(line, lines[shown - 1] ?? "")}`;
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

/** A line, with the blanks it begins with where they differ from those of the other: in Python they may be the change. */
function piece(line: string, other: string): string {
  const blanks = (text: string): string => /^[ \t]*/.exec(text)?.[0] ?? "";
  const depth = blanks(line).replaceAll(" ", "·").replaceAll("\t", "⇥") || "⇤";
  const text = code(line).replaceAll("\t", " ").trim();
  return text === "" || blanks(line) === blanks(other) ? text : depth + text;
}
