/**
 * Where hunks stand while the person types: what the server tells is of a text some keys ago, and each change of the
 * text carries a place to the text of now. Pure.
 *
 * The same rules as `touched_lines` and `_border` in tark_lsp/server/review/hunks.py.
 */

/** Lines [first, last) became lines [first, newLast). */
export interface LineChange {
  readonly first: number;
  readonly last: number;
  readonly newLast: number;
}

/** Of a document's change event: where it was in the text before, and what came there. */
export interface TextChange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

/** Lines [start, start + count); none: between two lines. */
export interface Place {
  readonly start: number;
  readonly count: number;
}

const NEWLINE = /\r\n|\r|\n/g;

function lineBreaks(text: string): number {
  return text.match(NEWLINE)?.length ?? 0;
}

/**
 * The lines that the changes of one event really touch: whole lines put before a line leave that line alone, and so
 * does a new line begun at the end of one.
 *
 * `lengthAfter` tells how long a line is after all of them. VS Code tells them from the last in the text to the first.
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
 * Where a place is after a change. Where its own lines were touched it is what came to stand there: whether they are
 * still the hunk's is for who compares the text.
 */
export function carry(place: Place, change: LineChange): Place {
  const { start, count } = place;
  const end = start + count;
  const { first, last, newLast } = change;
  const grown = newLast - last;
  // Of two insertions at the same place the server keeps its own above.
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

/** Was the text on both sides of it replaced in one go? Where between the new lines it is then, only the server says. */
export function isSevered({ start, count }: Place, { first, last }: LineChange): boolean {
  return count === 0 && first < start && start < last;
}

/** Over changes in their order. Undefined: nobody knows where it is. */
export function carryAll(place: Place, changes: readonly LineChange[]): Place | undefined {
  return changes.reduce<Place | undefined>(
    (carried, change) => (carried && !isSevered(carried, change) ? carry(carried, change) : undefined),
    place,
  );
}

/** Enough for minutes of typing; what is told of older versions is drawn with the next update. */
const MOST = 1000;

/** What was changed in one document, by the version that it had after it. */
export class ChangeLog {
  private readonly changes: { readonly version: number; readonly change: LineChange }[] = [];

  /** `since`: the version before the first change that is in it. */
  constructor(private since: number) {}

  add(version: number, changes: readonly LineChange[]): void {
    for (const change of changes) {
      this.changes.push({ version, change });
    }
    if (this.changes.length > MOST) {
      const [dropped] = this.changes.splice(0, this.changes.length - MOST / 2).slice(-1);
      this.since = dropped?.version ?? this.since;
    }
  }

  /** Undefined: nobody knows any more, or that version is yet to come. */
  now(place: Place, version: number, current: number): Place | undefined {
    if (version < this.since || version > current) {
      return undefined;
    }
    const since = this.changes.filter((each) => each.version > version);
    return carryAll(
      place,
      since.map((each) => each.change),
    );
  }
}
