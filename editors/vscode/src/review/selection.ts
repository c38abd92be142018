/** Finds hunks by cursor and selection. Pure. */

import type { LineRange } from "./lineRanges";

/** The line to go to. */
export function rowOf(place: LineRange): number {
  return place.count > 0 ? place.start : Math.max(0, place.start - 1);
}

/**
 * The indices of the ranges that lines `first` to `last` touch. If a single line touches none, the range that ends right
 * above it.
 */
export function touchedRanges(places: readonly LineRange[], first: number, last: number): number[] {
  const inside: number[] = [];
  const beside: number[] = [];
  const below: number[] = [];
  places.forEach(({ start, count }, index) => {
    if (start <= last && first < start + count) {
      inside.push(index);
    } else if (count === 0 && start - 1 <= last && first <= start) {
      beside.push(index);
    } else if (first === last && first === start + count) {
      below.push(index);
    }
  });
  if (first < last) {
    return [...inside, ...beside];
  }
  return [inside, beside, below].find((some) => some.length > 0) ?? [];
}

export function nearestRange(places: readonly LineRange[], line: number): number | undefined {
  const distances = places.map((place) => Math.abs(rowOf(place) - line));
  const least = Math.min(...distances);
  const index = distances.indexOf(least);
  return index < 0 ? undefined : index;
}

/** Are all lines of the range on the screen? `visible`: the ranges of visible lines, without folded lines. */
export function isInView(place: LineRange, visible: readonly { readonly first: number; readonly last: number }[]): boolean {
  const first = rowOf(place);
  const end = Math.max(first, place.start + place.count - 1);
  return visible.some((range) => range.first <= first && end <= range.last);
}

/** The line of the next hunk, upwards or downwards. Undefined if there are no more. */
export function nextRow(places: readonly LineRange[], line: number, step: 1 | -1): number | undefined {
  const ahead = places.map(rowOf).filter((row) => (row - line) * step > 0);
  return ahead.length === 0 ? undefined : step > 0 ? Math.min(...ahead) : Math.max(...ahead);
}
