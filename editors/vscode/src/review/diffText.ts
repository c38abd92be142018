/** The two sides of a diff: a text without some hunks, and with them. Pure. */

import type { Hunk } from "../model/protocol";
import { code } from "../text/visible";
import { linesOf } from "./words";
import type { Place } from "./places";

export type Side = "before" | "after";

/** A hunk that is shown, and the lines that stand in its place. */
export interface ShownHunk {
  readonly hunk: Hunk;
  readonly place: Place;
}

/**
 * One side, what cannot be seen shown as its code point. Of a conflict `before` is what stands there now.
 *
 * @param lines of the file as it is; undefined: there is none
 */
export function side(lines: readonly string[] | undefined, shown: readonly ShownHunk[], which: Side): string {
  const removal = shown.find(({ hunk }) => hunk.operation?.kind === "remove")?.hunk;
  if (removal) {
    return which === "after" ? "" : code(lines?.join("\n") ?? removal.oldText);
  }
  const made = [...(lines ?? [])];
  for (const { hunk, place } of inReverse(shown)) {
    if (hunk.operation?.kind !== "move") {
      made.splice(place.start, place.count, ...(linesFor(hunk, which) ?? made.slice(place.start, place.start + place.count)));
    }
  }
  return code(made.join("\n"));
}

/** Where they stand on that side. */
export function placesOn(shown: readonly ShownHunk[], which: Side): Place[] {
  let grown = 0;
  const places = new Map<ShownHunk, Place>();
  for (const each of inReverse(shown).reverse()) {
    const { hunk, place } = each;
    if (hunk.operation) {
      places.set(each, { start: 0, count: linesOf(which === "after" ? hunk.newText : hunk.oldText).length });
      continue;
    }
    const count = linesFor(hunk, which)?.length ?? place.count;
    places.set(each, { start: place.start + grown, count });
    grown += count - place.count;
  }
  return shown.map((each) => places.get(each) ?? each.place);
}

/** Undefined: as they are. */
function linesFor(hunk: Hunk, which: Side): string[] | undefined {
  if (which === "after") {
    return linesOf(hunk.newText);
  }
  const isAsTold = hunk.state === "pending" || (hunk.state === "stale" && hunk.applied);
  return isAsTold ? linesOf(hunk.oldText) : undefined;
}

/** Of two at the same place the first stays above. */
function inReverse(shown: readonly ShownHunk[]): ShownHunk[] {
  return [...shown].sort((one, other) => one.place.start - other.place.start).reverse();
}
