/**
 * References to code in words: `src/page.py:10-20`, `src/page.py#L10-L20`, `@file:src/page.py:10`. Pure.
 *
 * Whether there is such a file is looked at when one is followed, by the extension. As lua/tark/links.lua of the Neovim
 * plugin, but that a plain path must look like one, since here it is drawn as a link: `at 12:30` is none.
 */

export interface Reference {
  readonly path: string;
  /** Lines, from 1. */
  readonly first?: number;
  readonly last?: number;
}

export interface Found extends Reference {
  readonly start: number;
  readonly end: number;
}

const LOOKED_AT = 2000; // characters of a text
const NO_PATH = /^$|^[a-z][a-z0-9+.-]+:|^[/\\]{2}|\0/i; // command:, vscode:, file:, //host/share; C: is one
const LINES = /^(.+?)(?:#L(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9})(?:-(\d{1,9}))?)$/s;
const IN_WORDS = [
  /@file:"([^"\n]{1,500})"/g,
  /@file:([^\s"`]{1,500})/g,
  // A path with a folder or an ending in letters, and a line.
  /(?<![\w:/@.~+\\-])((?:[A-Za-z]:[\\/])?[\w.~@+\\/-]{0,400}(?:[\\/][\w.~@+-]{1,100}|\.[A-Za-z]\w{0,9})(?:#L\d{1,9}(?:-L?\d{1,9})?|:\d{1,9}(?:-\d{1,9})?))(?![\w/\\])/g,
];

/** A path with what may follow it. */
export function reference(words: string): Reference {
  const match = LINES.exec(words);
  if (match === null) {
    return { path: words };
  }
  const first = Math.max(1, Number(match[2] ?? match[4]));
  const last = match[3] ?? match[5];
  return { path: match[1]!, first, ...(last !== undefined && { last: Math.max(first, Number(last)) }) };
}

/** In their order, apart from each other. */
export function references(text: string): Found[] {
  const found: Found[] = [];
  const looked = text.slice(0, LOOKED_AT);
  if (!/[:#]/.test(looked)) {
    return found;
  }
  for (const pattern of IN_WORDS) {
    for (const match of looked.matchAll(pattern)) {
      const words = match[0].startsWith('@file:"') ? match[0] : match[0].replace(/[.,;:!?)\]}']+$/, "");
      const [start, end] = [match.index, match.index + words.length];
      if (found.every((each) => end <= each.start || each.end <= start)) {
        found.push({ ...reference(words.replace(/^@file:"?|"$/g, "")), start, end });
      }
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** All of it is one reference: as it often stands in backticks. */
export function wholeReference(text: string): Reference | undefined {
  const [only] = references(text);
  return only?.start === 0 && only.end === text.length ? only : undefined;
}

export type Target = { readonly url: string } | Reference;

/** Where a Markdown link leads: a page of the web, or a file. Undefined: nowhere that one may go from here. */
export function target(href: string): Target | undefined {
  if (/^https?:\/\/[^/\s]/i.test(href)) {
    return { url: href };
  }
  const { path, ...lines } = reference(href);
  try {
    const decoded = decodeURIComponent(path);
    return NO_PATH.test(decoded) || decoded.startsWith("#") ? undefined : { path: decoded, ...lines };
  } catch {
    return undefined;
  }
}
