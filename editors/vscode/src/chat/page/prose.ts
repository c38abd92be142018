/** Text of the model or the user in any language and with emoji, without deceptive characters. Pure. */

// Characters that hide or reorder text: controls, direction marks, zero-width characters, tags. Not the joiners and
// variation selectors that scripts and emoji need.
const DECEIVES =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- the expression is about these
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Replaces them by their code points, as text/visible.ts does, and normalizes line endings. */
export function prose(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(DECEIVES, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** The text in one line. */
export function oneLine(text: string): string {
  return prose(text).replace(/\s+/g, " ").trim();
}
