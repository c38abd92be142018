/**
 * Text that comes from a model or a repository, made safe to show: what cannot be seen becomes its code point.
 *
 * Pure. The same words as tark_lsp/server/asking/visible.py.
 */

import { RANGES } from "./visibleRanges";

const PLAIN = /^[\t\n -~]*$/;
let ranges: readonly (readonly [number, number])[] | undefined; // read when first needed

/** Is it a character that nobody sees, or takes for a space? */
export function hidden(code: number): boolean {
  ranges ??= [...RANGES.matchAll(/([0-9a-f]+)-([0-9a-f]+)/g)].map(
    ([, first, last]) => [parseInt(first ?? "", 16), parseInt(last ?? "", 16)] as const,
  );
  let low = 0;
  let high = ranges.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ranges[middle]?.[0] ?? 0) <= code) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const [first, last] = ranges[low] ?? [0, -1];
  return first <= code && code <= last;
}

/** Lines as they are, but for what cannot be seen in them. */
export function code(text: string): string {
  if (PLAIN.test(text)) {
    return text;
  }
  let shown = "";
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const isLayout = character === "\t" || character === "\n";
    shown += !isLayout && hidden(point) ? `\\u{${point.toString(16)}}` : character;
  }
  return shown;
}

/**
 * One line in which every character can be seen: newlines as `⏎`, tabs as `⇥`.
 *
 * VS Code makes links of `[a](b)` in messages, and pictures of `$(name)` in labels: here they are but text.
 */
export function line(text: string): string {
  const one = code(text.replaceAll("\r\n", "\n")).replaceAll("\n", "⏎").replaceAll("\t", "⇥");
  return one.replace(/\](?=[([])/g, "] ").replaceAll("$(", "$ (");
}

/** At most `longest` characters of one line, its beginning and its end: what stands last may be what matters. */
export function short(text: string, longest: number): string {
  const looked = text.length > 4 * longest ? text.slice(0, 2 * longest) + text.slice(-2 * longest) : text;
  const characters = [...line(looked)];
  if (characters.length <= longest) {
    return characters.join("");
  }
  const head = Math.floor((longest - 3) * 0.6);
  const tail = longest - 3 - head;
  return `${characters.slice(0, head).join("")} … ${characters.slice(characters.length - tail).join("")}`;
}

/** A fenced block of Markdown that `text` cannot close. */
export function fence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${ticks}`;
}
