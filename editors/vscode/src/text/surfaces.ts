/**
 * Untrusted text for each surface of VS Code, so that the surface shows exactly that text: no links, no icons, no
 * Markdown, no invisible characters. Pure.
 *
 * | function | surfaces | what VS Code does with their text |
 * |---|---|---|
 * | `documentText` | documents, diffs, code and results in the chat | shows it as it is |
 * | `plainLine` | rows of trees, titles, placeholders, tooltips, dialogs, lines of documents | shows it as it is |
 * | `listRow` | rows of lists (quick picks), with their descriptions | `$(name)` becomes an icon |
 * | `decorationText` | text beside lines of code | several spaces become one |
 * | `statusBarText` | status bar | `$(name)` becomes an icon |
 * | `codeLensTitle` | code lenses | `$(name)` becomes an icon; several spaces become one |
 * | `notificationText` | notifications, also of progress | `[a](command:b)` becomes a link; several spaces become one |
 * | `inputPrompt` | the prompt below an input box | links and icons |
 * | `hoverCode` | hovers over code | Markdown |
 * | `chatProse`, `chatLine` | prose and titles in the chat | shows it as it is; the chat parses Markdown itself |
 *
 * Call them where the text is given to VS Code, and only once: what they escape is not escaped again. A character that
 * VS Code would take for markup is escaped if the surface has an escape, else its code point is shown.
 */

import { visibleExcerpt, visibleLine, visibleProse, visibleText } from "./visible";

export { visibleText as documentText, visibleLine as plainLine, visibleExcerpt as plainExcerpt, visibleProse as chatProse };

/** A no-break space looks the same and is not collapsed. Nobody can copy this text. */
export function decorationText(text: string): string {
  return visibleLine(text).replaceAll(" ", "\u00a0");
}

export function listRow(text: string): string {
  return withoutIcons(visibleLine(text));
}

export function statusBarText(text: string): string {
  return withoutIcons(visibleLine(text));
}

export function codeLensTitle(text: string): string {
  return withoutIcons(visibleBlanks(visibleLine(text)));
}

export function notificationText(text: string): string {
  return withoutLinks(visibleBlanks(visibleLine(text)));
}

export function inputPrompt(text: string): string {
  return withoutIcons(withoutLinks(visibleBlanks(visibleLine(text))));
}

/** A fenced block of Markdown that the text cannot close. */
export function hoverCode(text: string, language: string): string {
  return fencedBlock(visibleText(text), language);
}

/** A title in one line. */
export function chatLine(text: string): string {
  return visibleProse(text).replace(/\s+/g, " ").trim();
}

export function fencedBlock(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${ticks}`;
}

/** VS Code shows `\$(name)` as `$(name)`. `$(git status)` is not an icon, so a backslash before it would be shown. */
function withoutIcons(line: string): string {
  return line.replace(/\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g, "\\$&");
}

/**
 * VS Code has no escape for links, so a bracket that would start a link is shown as its code point. A bracket that is never
 * closed would join with a link that follows, such as "Show" in a notification.
 */
function withoutLinks(line: string): string {
  const broken = line.replace(/\]\((?=\s*[a-z][\w+.-]*:)/gi, "]\\u{28}");
  const open = broken.lastIndexOf("]") + 1;
  return broken.slice(0, open) + broken.slice(open).replaceAll("[", "\\u{5b}");
}

/** If several spaces would be drawn as one, shows each as `·`. */
function visibleBlanks(line: string): string {
  return line.replace(/ {2,}/g, (blanks) => "·".repeat(blanks.length));
}
