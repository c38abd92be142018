/** Which hunks the person means: those at the cursor, or in the selection. Pure. */

import type { Place } from "./places";

/** Where one goes to see it. */
export function row(place: Place): number {
  return place.count > 0 ? place.start : Math.max(0, place.start - 1);
}

/** Indices of the places that lines first to last mean: those they touch, else the one right above the one line. */
export function touched(places: readonly Place[], first: number, last: number): number[] {
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

export function nearest(places: readonly Place[], line: number): number | undefined {
  const distances = places.map((place) => Math.abs(row(place) - line));
  const least = Math.min(...distances);
  const index = distances.indexOf(least);
  return index < 0 ? undefined : index;
}

/** The row of the next hunk from a line, upwards or downwards. Undefined: there is no more. */
export function next(places: readonly Place[], line: number, step: 1 | -1): number | undefined {
  const ahead = places.map(row).filter((each) => (each - line) * step > 0);
  return ahead.length === 0 ? undefined : step > 0 ? Math.min(...ahead) : Math.max(...ahead);
}
