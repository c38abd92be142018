/** The two sides of a diff: a text without and with some hunks. Pure. */

import type { Hunk } from "../model/protocol";
import { documentText } from "../text/surfaces";
import { splitLines } from "./hunkText";
import type { LineRange } from "./lineRanges";

export type Side = "before" | "after";

/** A hunk, and the lines that it occupies in the current text. */
export interface ShownHunk {
  readonly hunk: Hunk;
  readonly place: LineRange;
}

/**
 * The text of one side, with invisible characters as code points. The `before` side of a conflict is the current text.
 *
 * @param lines the current lines of the file; undefined if it does not exist
 */
export function diffSide(lines: readonly string[] | undefined, shown: readonly ShownHunk[], which: Side): string {
  const removal = shown.find(({ hunk }) => hunk.operation?.kind === "remove")?.hunk;
  if (removal) {
    return which === "after" ? "" : documentText(lines?.join("\n") ?? removal.oldText);
  }
  const made = [...(lines ?? [])];
  for (const { hunk, place } of inReverse(shown)) {
    if (hunk.operation?.kind !== "move") {
      made.splice(place.start, place.count, ...(linesFor(hunk, which) ?? made.slice(place.start, place.start + place.count)));
    }
  }
  return documentText(made.join("\n"));
}

/** The lines that the hunks occupy on that side. */
export function rangesOnSide(shown: readonly ShownHunk[], which: Side): LineRange[] {
  let grown = 0;
  const places = new Map<ShownHunk, LineRange>();
  for (const shownHunk of inReverse(shown).reverse()) {
    const { hunk, place } = shownHunk;
    if (hunk.operation) {
      places.set(shownHunk, { start: 0, count: splitLines(which === "after" ? hunk.newText : hunk.oldText).length });
      continue;
    }
    const count = linesFor(hunk, which)?.length ?? place.count;
    places.set(shownHunk, { start: place.start + grown, count });
    grown += count - place.count;
  }
  return shown.map((shownHunk) => places.get(shownHunk) ?? shownHunk.place);
}

/** Undefined: the lines stay as they are. */
function linesFor(hunk: Hunk, which: Side): string[] | undefined {
  if (which === "after") {
    return splitLines(hunk.newText);
  }
  const isAsTold = hunk.state === "pending" || (hunk.state === "stale" && hunk.applied);
  return isAsTold ? splitLines(hunk.oldText) : undefined;
}

/** Of two hunks at the same place, the first stays above. */
function inReverse(shown: readonly ShownHunk[]): ShownHunk[] {
  return [...shown].sort((one, other) => one.place.start - other.place.start).reverse();
}
