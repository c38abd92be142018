/** The hunks of one document: their places in the current text, and how they look there. Pure. */

import type { DocumentHunks, Hunk } from "../model/protocol";
import { trackRangeThrough, type ChangeLog, type LineChange, type LineRange } from "./lineRanges";
import { splitLines, lineRangeOf, currentLines } from "./hunkText";

/**
 * `pending`: its lines are unchanged. `changed`: they were changed, and the server has not reported the result yet.
 * `stale`: it could not be applied or undone.
 */
export type Look = "pending" | "changed" | "conflict" | "stale";

export interface PlacedHunk {
  readonly hunk: Hunk;
  readonly place: LineRange;
  readonly look: Look;
}

/** The part of an editor's document that is used. */
export interface DocumentText {
  readonly version: number;
  readonly isDirty: boolean;
  readonly lineCount: number;
  line(number: number): string;
}

interface TrackedHunk {
  hunk: Hunk;
  place: LineRange | undefined;
  look: Look | undefined;
  /** The hunk's lines were found unchanged once, so different lines there were typed by the user. */
  seen: boolean;
}

export class PlacedHunks {
  private readonly tracked = new Map<string, TrackedHunk>();

  constructor(private readonly log: ChangeLog) {}

  /** Sets the undecided hunks of the document, as the server reports them. */
  setHunks(document: DocumentHunks | undefined, text: DocumentText): void {
    const ids = new Set(document?.hunks.map((hunk) => hunk.hunkId));
    for (const id of [...this.tracked.keys()].filter((hunkId) => !ids.has(hunkId))) {
      this.tracked.delete(id);
    }
    for (const hunk of document?.hunks ?? []) {
      const known = this.tracked.get(hunk.hunkId) ?? { hunk, place: undefined, look: undefined, seen: false };
      known.hunk = hunk;
      known.place = this.place(hunk, document?.version, text) ?? known.place;
      this.tracked.set(hunk.hunkId, known);
      this.look(known, text);
    }
  }

  /** Call this when lines were changed. Returns whether any hunk looks different now. */
  applyChanges(changes: readonly LineChange[], text: DocumentText): boolean {
    let differs = false;
    for (const tracked of this.tracked.values()) {
      const former = tracked.look;
      tracked.place = tracked.place && trackRangeThrough(tracked.place, changes);
      this.look(tracked, text);
      differs ||= tracked.look !== former;
    }
    return differs;
  }

  /** The hunks to draw, in the order of their places. */
  sortedHunks(): PlacedHunk[] {
    return [...this.tracked.values()]
      .flatMap(({ hunk, place, look }) => (place && look ? [{ hunk, place, look }] : []))
      .sort((one, other) => one.place.start - other.place.start || one.place.count - other.place.count);
  }

  /** The place in the current text, from the server's range. Undefined if it is not known yet. */
  private place(hunk: Hunk, version: number | null | undefined, text: DocumentText): LineRange | undefined {
    const range = lineRangeOf(hunk);
    const place = hunk.state === "pending" ? { ...range, count: currentLines(hunk).length } : range;
    if (version == null) {
      return text.isDirty ? undefined : place;
    }
    return this.log.trackToCurrent(place, version, text.version);
  }

  private look(tracked: TrackedHunk, text: DocumentText): void {
    const { hunk, place } = tracked;
    tracked.look = place && place.start <= text.lineCount ? lookOf(hunk, place, text) : undefined;
    tracked.seen ||= tracked.look === "pending";
    if (tracked.look === "changed" && !tracked.seen) {
      tracked.look = undefined;
    }
  }
}

function lookOf(hunk: Hunk, place: LineRange, text: DocumentText): Look | undefined {
  if (hunk.state === "conflict" || hunk.state === "stale") {
    return hunk.state;
  }
  const lines = currentLines(hunk);
  const isThere = (some: readonly string[]): boolean =>
    some.length === place.count && some.every((expected, index) => expected === lineOf(text, place.start + index));
  if (isThere(lines)) {
    return "pending";
  }
  // Just accepted, rejected or undone: the server is about to report it.
  return isThere(splitLines(hunk.applied ? hunk.oldText : hunk.newText)) ? undefined : "changed";
}

function lineOf(text: DocumentText, number: number): string | undefined {
  return number < text.lineCount ? text.line(number) : undefined;
}
