/** Formats numbers, money and times for a line of text. Pure; the same as lua/tark/figures.lua of the Neovim plugin. */

/** `950`, `8.1k`, `200k`, `1.2M`. */
export function shortNumber(number: number): string {
  if (number < 1000) {
    return String(number);
  }
  const isMillions = number >= 999_950;
  return (number / (isMillions ? 1_000_000 : 1000)).toFixed(1).replace(/\.0$/, "") + (isMillions ? "M" : "k");
}

/** `$0.0123`, `$4.20`; empty if the cost is unknown. */
export function formatMoney(usd: number | null | undefined): string {
  if (usd == null) {
    return "";
  }
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}

/** `now`, `5 min`, `3 h`, `2 d`. */
export function formatAge(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) {
    return "";
  }
  const [, unit, name] = AGES.find(([below]) => seconds < below) ?? AGES[AGES.length - 1]!;
  return unit === 0 ? name : `${Math.floor(seconds / unit)} ${name}`;
}

const AGES: readonly (readonly [below: number, unit: number, name: string])[] = [
  [60, 0, "now"],
  [3600, 60, "min"],
  [86_400, 3600, "h"],
  [Infinity, 86_400, "d"],
];

/** `0.4 s`, `12 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) {
    return `${seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** `1 edit`, `2 edits`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The parts that are not empty, joined by ` · `. */
export function joinParts(...parts: readonly (string | null | undefined | false)[]): string {
  return parts.filter((part) => typeof part === "string" && part !== "").join(" · ");
}
