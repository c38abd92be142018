/** The table of hostile strings that the tests of all three languages share, and how VS Code shows what it gets. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Entry {
  readonly name: string;
  readonly text?: string;
  /** Code units of UTF-16, if no JSON can hold the text. */
  readonly units?: readonly number[];
}

const TABLE = JSON.parse(readFileSync(join(process.cwd(), "..", "..", "tests", "hostile_text.json"), "utf8")) as readonly Entry[];

export const HOSTILE_TEXT: readonly { readonly name: string; readonly text: string }[] = TABLE.map(({ name, text, units }) => ({
  name,
  text: text ?? String.fromCharCode(...(units ?? [])),
}));

/** What a surface draws: its text, and the links and icons that it makes of its input. */
export interface Shown {
  readonly text: string;
  readonly markup: readonly string[];
}

/** Trees, titles, documents: nothing is parsed. */
export function drawnAsIs(given: string): Shown {
  return { text: given, markup: [] };
}

/** Rows of lists, status bar: `$(name)` is an icon, `\$(name)` is text. */
export function drawnWithIcons(given: string): Shown {
  const markup: string[] = [];
  const text = given.replace(/(\\?)(\$\([a-z0-9-]+(~[a-z]+)?\))/gi, (_, escape: string, icon: string) => {
    if (escape === "") {
      markup.push(icon);
    }
    return escape === "" ? "" : icon;
  });
  return { text, markup };
}

/** Notifications: links to web pages, files and commands. */
export function drawnWithLinks(given: string): Shown {
  const markup: string[] = [];
  const text = given.replace(/\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["']).+?\3)?\)/gi, (link, label: string) => {
    markup.push(link);
    return label;
  });
  return { text: drawnInHtml(text), markup };
}

/** The prompt of an input box: links, and icons in the text around them. */
export function drawnWithBoth(given: string): Shown {
  const [links, icons] = [drawnWithLinks(given), drawnWithIcons(given)];
  return { text: drawnWithIcons(links.text).text, markup: [...links.markup, ...icons.markup] };
}

/** Blanks as HTML draws them, unless its style says otherwise. */
export function drawnInHtml(text: string): string {
  return text.replace(/[ \t\n]+/g, " ");
}
