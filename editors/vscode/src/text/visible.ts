/**
 * Shows text from a model or a repository character by character: invisible characters become their code points.
 *
 * Pure. The same output as tark_lsp/visible.py and lua/tark/visible.lua. `surfaces.ts` has what VS Code's windows need.
 */

import { RANGES } from "./visibleRanges";

/** Invisible characters that prose needs: no-break and wide spaces, joiners, variation selectors of emoji. */
const IN_PROSE = "\\u00a0\\u2009\\u200c\\u200d\\u202f\\u3000\\ufe0e\\ufe0f";

const INVISIBLE = classOf("");
const INVISIBLE_IN_CODE = classOf("\\t\\n");
const INVISIBLE_IN_PROSE = classOf(`\\t\\n${IN_PROSE}`);

function classOf(allowed: string): RegExp {
  const ranges = RANGES.replace(/([0-9a-f]+)-([0-9a-f]+)\s*/g, "\\u{$1}-\\u{$2}").trim();
  return new RegExp(`${allowed && `(?![${allowed}])`}[${ranges}]`, "gu");
}

/** Is the character invisible, or does it look like a space? */
export function isInvisible(code: number): boolean {
  return String.fromCodePoint(code).search(INVISIBLE) === 0;
}

/** The text with its lines and tabs; other invisible characters are replaced. For code, and for all that a user decides on. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE_IN_CODE, codePoint);
}

/** The same for text on which the user decides nothing: the characters that prose needs stay. */
export function visibleProse(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(INVISIBLE_IN_PROSE, codePoint);
}

/** The text in one line in which every character is visible: newlines become `⏎`, tabs `⇥`. */
export function visibleLine(text: string): string {
  return visibleText(text.replaceAll("\r\n", "\n")).replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}

/** At most `longest` characters of the text in one line. Keeps its start and its end, because the end can matter, too. */
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

function codePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
