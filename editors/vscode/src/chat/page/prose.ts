/** Words of the model or the person, in any language and with emoji, but for what deceives the eye. Pure. */

// Controls, what turns the writing direction, what has no width, tags: all that hides or reorders words. Not what
// scripts and emoji are written with (joiners, variation selectors).
const DECEIVES =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- these are what it is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** They become their code points, as in text/visible.ts; line ends become one kind. */
export function prose(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(DECEIVES, (each) => `\\u{${each.codePointAt(0)!.toString(16)}}`);
}

/** In one line. */
export function oneLine(text: string): string {
  return prose(text).replace(/\s+/g, " ").trim();
}
