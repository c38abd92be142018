/**
 * Tracks ranges of lines through changes of the text. The server's ranges refer to a text that is a few keystrokes old, and
 * each change maps them to the current text. Pure.
 *
 * The same rules as `touched_lines` and `_border` in tark_lsp/review/following.py.
 */

/** Lines [first, last) became lines [first, newLast). */
export interface LineChange {
  readonly first: number;
  readonly last: number;
  readonly newLast: number;
}

/** A change of a document: a range of the text before, and its replacement. */
export interface TextChange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

/** Lines [start, start + count). A count of 0: between two lines. */
export interface LineRange {
  readonly start: number;
  readonly count: number;
}

const NEWLINE = /\r\n|\r|\n/g;

function lineBreaks(text: string): number {
  return text.match(NEWLINE)?.length ?? 0;
}

/**
 * The lines that the changes of one event touch. Whole lines inserted before a line do not touch it, and neither does a
 * new line inserted at its end.
 *
 * `lengthAfter` returns the length of a line after all changes. VS Code lists them from the last in the text to the
 * first.
 */
export function lineChanges(changes: readonly TextChange[], lengthAfter: (line: number) => number): LineChange[] {
  const found: LineChange[] = [];
  let grownAbove = 0;
  for (const change of changes.toReversed()) {
    const grown = grownAbove;
    found.push(lineChange(change, (line) => lengthAfter(line + grown)));
    grownAbove += lineBreaks(change.text) - (change.endLine - change.startLine);
  }
  return found.reverse();
}

function lineChange(change: TextChange, lengthAfter: (line: number) => number): LineChange {
  const { startLine: first, startCharacter, endLine, endCharacter, text } = change;
  const breaks = lineBreaks(text);
  const wholeLines = /[\r\n]$/.test(text) || (text === "" && startCharacter === 0);
  if (endCharacter === 0 && wholeLines) {
    const last = startCharacter === 0 ? endLine : Math.max(first + 1, endLine);
    return { first, last, newLast: last + breaks - (endLine - first) };
  }
  const isInsertion = first === endLine && startCharacter === endCharacter;
  const typedLast = text.slice(Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1);
  if (isInsertion && /^[\r\n]/.test(text) && lengthAfter(first + breaks) === typedLast.length) {
    return { first: first + 1, last: first + 1, newLast: first + 1 + breaks };
  }
  return { first, last: endLine + 1, newLast: first + breaks + 1 };
}

/**
 * The range after a change. If its own lines were touched, it covers what replaced them: the caller compares the text
 * to see if they are still the hunk's lines.
 */
export function trackRange(place: LineRange, change: LineChange): LineRange {
  const { start, count } = place;
  const end = start + count;
  const { first, last, newLast } = change;
  const grown = newLast - last;
  // If two insertions are at the same place, the server keeps its own above.
  const isBeside = count === 0 && first === last && first === start;
  if (last <= start && !isBeside) {
    return { start: start + grown, count };
  }
  if (first >= end) {
    return place;
  }
  const from = first < start ? first + Math.min(start - first, newLast - first) : start;
  const to = last <= end ? end + grown : first + Math.max(0, newLast - first - (last - end));
  return { start: from, count: Math.max(0, to - from) };
}

/** Was the text on both sides of an insertion replaced at once? Only the server knows its new place. */
export function isSevered({ start, count }: LineRange, { first, last }: LineChange): boolean {
  return count === 0 && first < start && start < last;
}

/** Tracks a range through several changes, in order. Undefined if the place is unknown. */
export function trackRangeThrough(place: LineRange, changes: readonly LineChange[]): LineRange | undefined {
  return changes.reduce<LineRange | undefined>(
    (carried, change) => (carried && !isSevered(carried, change) ? trackRange(carried, change) : undefined),
    place,
  );
}

/** Enough for minutes of typing. Hunks of older versions are drawn with the next update. */
const MAX_CHANGES = 1000;

/** The changes of one document, by the version after each. */
export class ChangeLog {
  private readonly changes: { readonly version: number; readonly change: LineChange }[] = [];

  /** `since`: the version before the first recorded change. */
  constructor(private since: number) {}

  addChanges(version: number, changes: readonly LineChange[]): void {
    for (const change of changes) {
      this.changes.push({ version, change });
    }
    if (this.changes.length > MAX_CHANGES) {
      const [dropped] = this.changes.splice(0, this.changes.length - MAX_CHANGES / 2).slice(-1);
      this.since = dropped?.version ?? this.since;
    }
  }

  /** Undefined if the version is too old, or newer than the document. */
  trackToCurrent(place: LineRange, version: number, current: number): LineRange | undefined {
    if (version < this.since || version > current) {
      return undefined;
    }
    const since = this.changes.filter((entry) => entry.version > version);
    return trackRangeThrough(
      place,
      since.map((entry) => entry.change),
    );
  }
}
