/** Compares two lists of lines or words. Pure. */

/** Items [oldStart, oldEnd) of the old list became items [newStart, newEnd) of the new list. */
export interface DiffRun {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Longer lists are not compared in detail, because it takes time. */
const MOST_PAIRS = 250_000;

/** The differing runs, in order. */
export function diffRuns(old: readonly string[], new_: readonly string[]): DiffRun[] {
  let head = 0;
  while (head < old.length && head < new_.length && old[head] === new_[head]) {
    head += 1;
  }
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < new_.length - head &&
    old[old.length - 1 - tail] === new_[new_.length - 1 - tail]
  ) {
    tail += 1;
  }
  const middle = runsOf(old.slice(head, old.length - tail), new_.slice(head, new_.length - tail));
  return middle.map((run) => ({
    oldStart: run.oldStart + head,
    oldEnd: run.oldEnd + head,
    newStart: run.newStart + head,
    newEnd: run.newEnd + head,
  }));
}

function runsOf(old: readonly string[], new_: readonly string[]): DiffRun[] {
  const found: DiffRun[] = [];
  let [oldAt, newAt] = [0, 0];
  for (const [oldNext, newNext] of [...commonItems(old, new_), [old.length, new_.length] as const]) {
    if (oldNext > oldAt || newNext > newAt) {
      found.push({ oldStart: oldAt, oldEnd: oldNext, newStart: newAt, newEnd: newNext });
    }
    [oldAt, newAt] = [oldNext + 1, newNext + 1];
  }
  return found;
}

/** A longest common subsequence, as pairs of indices. */
function commonItems(old: readonly string[], new_: readonly string[]): (readonly [number, number])[] {
  if (old.length * new_.length > MOST_PAIRS) {
    return [];
  }
  const width = new_.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = new_.length - 1; column >= 0; column -= 1) {
      longest[row * width + column] =
        old[row] === new_[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < new_.length) {
    if (old[row] === new_[column]) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      row += 1;
    } else {
      column += 1;
    }
  }
  return pairs;
}
