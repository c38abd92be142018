/** The hunks of one document: where each stands in the text of now, and how it looks there. Pure. */

import type { DocumentHunks, Hunk } from "../model/protocol";
import { carryAll, type ChangeLog, type LineChange, type Place } from "./places";
import { linesOf, placeOf, standing } from "./words";

/**
 * `pending`: its lines stand as they did when it was made. `changed`: they do not, and the server has not said yet what
 * that means. `stale`: it could not be applied, or taken back.
 */
export type Look = "pending" | "changed" | "conflict" | "stale";

export interface Placed {
  readonly hunk: Hunk;
  readonly place: Place;
  readonly look: Look;
}

/** A document of the editor, as far as it is looked at. */
export interface Text {
  readonly version: number;
  readonly isDirty: boolean;
  readonly lineCount: number;
  line(number: number): string;
}

interface Followed {
  hunk: Hunk;
  place: Place | undefined;
  look: Look | undefined;
  /** It was seen to stand where it is: what is there now was typed, and is no other text than the server speaks of. */
  seen: boolean;
}

export class PlacedHunks {
  private readonly followed = new Map<string, Followed>();

  constructor(private readonly log: ChangeLog) {}

  /** All hunks of the document that are to be decided, as the server told of them. */
  update(told: DocumentHunks | undefined, text: Text): void {
    const ids = new Set(told?.hunks.map((hunk) => hunk.hunkId));
    for (const id of [...this.followed.keys()].filter((each) => !ids.has(each))) {
      this.followed.delete(id);
    }
    for (const hunk of told?.hunks ?? []) {
      const known = this.followed.get(hunk.hunkId) ?? { hunk, place: undefined, look: undefined, seen: false };
      known.hunk = hunk;
      known.place = this.place(hunk, told?.version, text) ?? known.place;
      this.followed.set(hunk.hunkId, known);
      this.look(known, text);
    }
  }

  /** Lines were changed: does any hunk look otherwise now? */
  changed(changes: readonly LineChange[], text: Text): boolean {
    let differs = false;
    for (const each of this.followed.values()) {
      const former = each.look;
      each.place = each.place && carryAll(each.place, changes);
      this.look(each, text);
      differs ||= each.look !== former;
    }
    return differs;
  }

  /** Those that are to be drawn, in the order of their places. */
  all(): Placed[] {
    return [...this.followed.values()]
      .flatMap(({ hunk, place, look }) => (place && look ? [{ hunk, place, look }] : []))
      .sort((one, other) => one.place.start - other.place.start || one.place.count - other.place.count);
  }

  /** Where the server's word puts it in the text of now. Undefined: nobody knows yet. */
  private place(hunk: Hunk, version: number | null | undefined, text: Text): Place | undefined {
    const told = placeOf(hunk);
    const place = hunk.state === "pending" ? { ...told, count: standing(hunk).length } : told;
    if (version == null) {
      return text.isDirty ? undefined : place;
    }
    return this.log.now(place, version, text.version);
  }

  private look(each: Followed, text: Text): void {
    const { hunk, place } = each;
    each.look = place && place.start <= text.lineCount ? lookOf(hunk, place, text) : undefined;
    each.seen ||= each.look === "pending";
    if (each.look === "changed" && !each.seen) {
      each.look = undefined;
    }
  }
}

function lookOf(hunk: Hunk, place: Place, text: Text): Look | undefined {
  if (hunk.state === "conflict" || hunk.state === "stale") {
    return hunk.state;
  }
  const lines = standing(hunk);
  const isThere = (some: readonly string[]): boolean =>
    some.length === place.count && some.every((each, index) => each === lineOf(text, place.start + index));
  if (isThere(lines)) {
    return "pending";
  }
  // Just accepted, rejected or undone: the server is about to say so.
  return isThere(linesOf(hunk.applied ? hunk.oldText : hunk.newText)) ? undefined : "changed";
}

function lineOf(text: Text, number: number): string | undefined {
  return number < text.lineCount ? text.line(number) : undefined;
}
