/** Hunks in words: the sizes, titles and counts by which the person knows them everywhere. Pure. */

import type { DocumentHunks, Hunk } from "../model/protocol";
import { line, short } from "../text/visible";
import type { Place } from "./places";

/** A hunk that waits, and where it was told of. */
export interface WaitingHunk {
  readonly uri: string;
  readonly hunk: Hunk;
}

const LONGEST_LINE = 80;
const TYPED = "the person changed these lines";
const PREFIX: Readonly<Record<string, string>> = { conflict: "conflict: ", stale: "not applied: " };

/** How a file is called, from where the person is. */
export type Name = (uri: string) => string;

/** Lines without their ends. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

/** The lines that stand in its place as long as nobody changed them. */
export function standing(hunk: Hunk): string[] {
  return linesOf(hunk.applied ? hunk.newText : hunk.oldText);
}

/** The lines that its range says. */
export function placeOf(hunk: Hunk): Place {
  const { start, end } = hunk.range;
  const last = end.line + (end.character > 0 ? 1 : 0);
  return { start: start.line, count: Math.max(0, last - start.line) };
}

export function sorted(waiting: readonly WaitingHunk[]): WaitingHunk[] {
  const key = ({ uri, hunk }: WaitingHunk): [string, number, string] => [uri, hunk.range.start.line, hunk.hunkId];
  return [...waiting].sort((one, other) => {
    const [uri, row, id] = key(one);
    const [otherUri, otherRow, otherId] = key(other);
    return compare(uri, otherUri) || row - otherRow || compare(id, otherId);
  });
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** All of them, in the order in which they stand in their files. */
export function allWaiting(hunks: ReadonlyMap<string, DocumentHunks>): WaitingHunk[] {
  return sorted([...hunks].flatMap(([uri, told]) => told.hunks.map((hunk) => ({ uri, hunk }))));
}

/** `3 changes in 2 files` */
export function count(waiting: readonly WaitingHunk[]): string {
  const files = new Set(waiting.map((each) => each.uri)).size;
  return `${plural(waiting.length, "change")} in ${plural(files, "file")}`;
}

export function plural(number: number, word: string): string {
  return `${String(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** `+2 −1`; nothing where no line comes or goes. */
export function size(hunks: readonly Hunk[]): string {
  const sum = (text: (hunk: Hunk) => string): number =>
    hunks.reduce((total, hunk) => total + linesOf(text(hunk)).length, 0);
  const [added, removed] = [sum((hunk) => hunk.newText), sum((hunk) => hunk.oldText)];
  return added + removed === 0 ? "" : `+${String(added)} −${String(removed)}`;
}

/** ` (+2 −1)` */
export function sizeInBrackets(hunks: readonly Hunk[]): string {
  const words = size(hunks);
  return words && ` (${words})`;
}

/** What becomes of the file itself; undefined: only lines are changed. */
export function operation(hunk: Hunk, name: Name): string | undefined {
  const { operation: told, applied } = hunk;
  if (!told) {
    return undefined;
  }
  if (told.kind === "remove") {
    return `${applied ? "deleted" : "deletes"} this file${sizeInBrackets([hunk])}`;
  }
  return `${applied ? "moved" : "moves"} this file to ${told.target ? line(name(told.target)) : "?"}`;
}

/** One line for a list: `+2 −1 def area(radius):` */
export function title(hunk: Hunk, name: Name): string {
  const first = [...linesOf(hunk.newText), ...linesOf(hunk.oldText)].find((each) => each.trim() !== "") ?? "";
  const words = operation(hunk, name) ?? `${size([hunk])} ${short(first.trim(), LONGEST_LINE)}`;
  return `${PREFIX[hunk.state] ?? ""}${words}${hunk.outsideSelection ? " (outside the selection)" : ""}`;
}

/** ` (why)`, unless there is nothing to say: that the person typed there they know. */
export function because(hunk: Hunk): string {
  return hunk.reason && hunk.reason !== TYPED ? ` (${short(said(hunk.reason), 160)})` : "";
}

/** What the server says of hunks, said to the person. */
export function said(problem: string): string {
  return problem.replace(/^hunkIds?: /, "").replaceAll("the person", "you");
}

/** The lines as a diff has them. */
export function asDiff(hunk: Hunk): string {
  return [
    ...linesOf(hunk.oldText).map((each) => `-${each}`),
    ...linesOf(hunk.newText).map((each) => `+${each}`),
  ].join("\n");
}
