/** Sizes, titles and counts of hunks, as they are shown everywhere. Pure. */

import { counted } from "../text/figures";
import type { DocumentHunks, Hunk, Permission } from "../model/protocol";
import { addressUser } from "../text/serverWords";
import { plainLine, plainExcerpt } from "../text/surfaces";
import type { LineRange } from "./lineRanges";

/** A hunk that waits for a decision, and its document. */
export interface UndecidedHunk {
  readonly uri: string;
  readonly hunk: Hunk;
}

const LONGEST_LINE = 80;
const TYPED_OVER = "you changed these lines";
const PREFIX: Readonly<Record<string, string>> = { conflict: "conflict: ", stale: "not applied: " };

/** Returns the name of a file, relative to the workspace folder. */
export type NameFile = (uri: string) => string;

/** The lines, without line endings. */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

/** The lines that are in the document, if nobody changed them. */
export function currentLines(hunk: Hunk): string[] {
  return splitLines(hunk.applied ? hunk.newText : hunk.oldText);
}

/** The lines of its range. */
export function lineRangeOf(hunk: Hunk): LineRange {
  const { start, end } = hunk.range;
  const last = end.line + (end.character > 0 ? 1 : 0);
  return { start: start.line, count: Math.max(0, last - start.line) };
}

export function sortHunks(waiting: readonly UndecidedHunk[]): UndecidedHunk[] {
  const key = ({ uri, hunk }: UndecidedHunk): [string, number, string] => [uri, hunk.range.start.line, hunk.hunkId];
  return [...waiting].sort((one, other) => {
    const [uri, row, id] = key(one);
    const [otherUri, otherRow, otherId] = key(other);
    return compare(uri, otherUri) || row - otherRow || compare(id, otherId);
  });
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** All undecided hunks, sorted by file and line. */
export function undecidedHunks(hunks: ReadonlyMap<string, DocumentHunks>): UndecidedHunk[] {
  return sortHunks([...hunks].flatMap(([uri, document]) => document.hunks.map((hunk) => ({ uri, hunk }))));
}

/** The ids of the hunks that pending permission requests are about. */
export function askedHunks(permissions: readonly Permission[]): Set<string> {
  const documents = permissions.flatMap(({ edits }) => edits ?? []);
  return new Set(documents.flatMap(({ hunks }) => hunks.map(({ hunkId }) => hunkId)));
}

/** `3 changes in 2 files` */
export function countChanges(waiting: readonly UndecidedHunk[]): string {
  const files = new Set(waiting.map((undecided) => undecided.uri)).size;
  return `${counted(waiting.length, "change")} in ${counted(files, "file")}`;
}

/** `+2 −1`; empty if no line is added or removed. */
export function lineCounts(hunks: readonly Hunk[]): string {
  const sum = (text: (hunk: Hunk) => string): number =>
    hunks.reduce((total, hunk) => total + splitLines(text(hunk)).length, 0);
  const [added, removed] = [sum((hunk) => hunk.newText), sum((hunk) => hunk.oldText)];
  return added + removed === 0 ? "" : `+${String(added)} −${String(removed)}`;
}

/** ` (+2 −1)` */
export function lineCountsInBrackets(hunks: readonly Hunk[]): string {
  const words = lineCounts(hunks);
  return words && ` (${words})`;
}

/** What happens to the file itself. Undefined if only lines change. */
export function fileOperation(hunk: Hunk, name: NameFile): string | undefined {
  const { operation: change, applied } = hunk;
  if (!change) {
    return undefined;
  }
  if (change.kind === "remove") {
    return `${applied ? "deleted" : "deletes"} this file${lineCountsInBrackets([hunk])}`;
  }
  return `${applied ? "moved" : "moves"} this file to ${change.target ? plainLine(name(change.target)) : "?"}`;
}

/** One line for a list: `+2 −1 def area(radius):` */
export function hunkTitle(hunk: Hunk, name: NameFile): string {
  const first = [...splitLines(hunk.newText), ...splitLines(hunk.oldText)].find((text) => text.trim() !== "") ?? "";
  const words = fileOperation(hunk, name) ?? `${lineCounts([hunk])} ${plainExcerpt(first.trim(), LONGEST_LINE)}`;
  return `${PREFIX[hunk.state] ?? ""}${words}${hunk.outsideSelection ? " (outside the selection)" : ""}`;
}

/** ` (reason)`; empty if there is none, or if the user changed the lines and so knows it. */
export function reasonInBrackets(hunk: Hunk): string {
  const reason = addressUser(hunk.reason ?? "");
  return reason === "" || reason === TYPED_OVER ? "" : ` (${plainExcerpt(reason, 160)})`;
}

/** The hunk in diff format. */
export function hunkDiff(hunk: Hunk): string {
  return [
    ...splitLines(hunk.oldText).map((text) => `-${text}`),
    ...splitLines(hunk.newText).map((text) => `+${text}`),
  ].join("\n");
}
