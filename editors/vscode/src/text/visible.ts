/**
 * Makes text from a model or a repository safe to show: invisible characters become their code points.
 *
 * Pure. The same output as tark_lsp/visible.py.
 */

import { RANGES } from "./visibleRanges";

const PLAIN = /^[\t\n -~]*$/;
let ranges: readonly (readonly [number, number])[] | undefined; // parsed on first use

/** Is the character invisible, or does it look like a space? */
export function isInvisible(code: number): boolean {
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

/** The text with its lines; invisible characters are replaced. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) {
    return text;
  }
  let shown = "";
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const isLayout = character === "\t" || character === "\n";
    shown += !isLayout && isInvisible(point) ? `\\u{${point.toString(16)}}` : character;
  }
  return shown;
}

/**
 * The text in one line in which every character is visible: newlines become `⏎`, tabs `⇥`.
 *
 * VS Code turns `[a](b)` in messages into links, and `$(name)` in labels into icons. Here they stay text.
 */
export function visibleLine(text: string): string {
  const one = visibleText(text.replaceAll("\r\n", "\n")).replaceAll("\n", "⏎").replaceAll("\t", "⇥");
  return one.replace(/\](?=[([])/g, "] ").replaceAll("$(", "$ (");
}

/** At most `longest` characters of the text in one line: its start and its end, since the end can be what matters. */
export function visibleExcerpt(text: string, longest: number): string {
  const looked = text.length > 4 * longest ? text.slice(0, 2 * longest) + text.slice(-2 * longest) : text;
  const characters = [...visibleLine(looked)];
  if (characters.length <= longest) {
    return characters.join("");
  }
  const head = Math.floor((longest - 3) * 0.6);
  const tail = longest - 3 - head;
  return `${characters.slice(0, head).join("")} … ${characters.slice(characters.length - tail).join("")}`;
}

/** A fenced block of Markdown that `text` cannot close. */
export function fencedBlock(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${ticks}`;
}
