/** Converts the server's completions to rows of the prompt's list. Positions and offsets are in UTF-16 units. Pure. */

import type { Position, Range } from "../model/protocol";
import type { CompletionRow } from "./messages";

interface Item {
  readonly label: string;
  readonly detail?: string | null;
  readonly filterText?: string | null;
  readonly insertText?: string | null;
  readonly sortText?: string | null;
  readonly textEdit?: { readonly newText: string; readonly range: Range } | null;
}

export type CompletionAnswer = { readonly isIncomplete: boolean; readonly items: readonly Item[] } | readonly Item[];

export function completionRows(text: string, offset: number, answer: CompletionAnswer): CompletionRow[] {
  const { isIncomplete, items } = "items" in answer ? answer : { isIncomplete: false, items: answer };
  const rows = items.map((item) => {
    const from = item.textEdit ? offsetAt(text, item.textEdit.range.start) : offset;
    const to = item.textEdit ? offsetAt(text, item.textEdit.range.end) : offset;
    const row: CompletionRow = {
      label: item.label,
      ...(item.detail != null && { detail: item.detail }),
      insert: item.textEdit?.newText ?? item.insertText ?? item.label,
      from,
      to,
    };
    return { row, order: item.sortText ?? item.label, matches: (item.filterText ?? item.label).toLowerCase() };
  });
  return rows
    .filter(({ row, matches }) => isIncomplete || matches.startsWith(text.slice(row.from, offset).toLowerCase()))
    .sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0))
    .map(({ row }) => row);
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length - 1, character: before.at(-1)!.length };
}

function offsetAt(text: string, { line, character }: Position): number {
  const lines = text.split("\n").slice(0, line);
  return lines.reduce((at, previous) => at + previous.length + 1, 0) + character;
}
