/**
 * Finds references to code in text: `src/page.py:10-20`, `src/page.py#L10-L20`, `@file:src/page.py:10`. Pure.
 *
 * The extension checks whether the file exists when the user follows a link. Does the same as lua/tark/chat/links.lua of
 * the Neovim plugin, with one difference: because references are drawn as links, a path must look like a path. `at 12:30`
 * is not a reference.
 */

export interface Reference {
  readonly path: string;
  /** Lines, from 1. */
  readonly first?: number;
  readonly last?: number;
}

export interface FoundReference extends Reference {
  readonly start: number;
  readonly end: number;
}

const LOOKED_AT = 2000; // characters of a text that are searched
const NO_PATH = /^$|^[a-z][a-z0-9+.-]+:|^[/\\]{2}|\0/i; // command:, vscode:, file:, //host/share; but C: is a path
const LINES = /^(.+?)(?:#L(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9})(?:-(\d{1,9}))?)$/s;
const IN_WORDS = [
  /@file:"([^"\n]{1,500})"/g,
  /@file:([^\s"`]{1,500})/g,
  // A path with a folder or an extension, and a line.
  /(?<![\w:/@.~+\\-])((?:[A-Za-z]:[\\/])?[\w.~@+\\/-]{0,400}(?:[\\/][\w.~@+-]{1,100}|\.[A-Za-z]\w{0,9})(?:#L\d{1,9}(?:-L?\d{1,9})?|:\d{1,9}(?:-\d{1,9})?))(?![\w/\\])/g,
];

/** Parses a path with optional lines. */
export function parseReference(words: string): Reference {
  const match = LINES.exec(words);
  if (match === null) {
    return { path: words };
  }
  const first = Math.max(1, Number(match[2] ?? match[4]));
  const last = match[3] ?? match[5];
  return { path: match[1]!, first, ...(last !== undefined && { last: Math.max(first, Number(last)) }) };
}

/** In order, without overlaps. */
export function findReferences(text: string): FoundReference[] {
  const found: FoundReference[] = [];
  const looked = text.slice(0, LOOKED_AT);
  if (!/[:#]/.test(looked)) {
    return found;
  }
  for (const pattern of IN_WORDS) {
    for (const match of looked.matchAll(pattern)) {
      const words = match[0].startsWith('@file:"') ? match[0] : match[0].replace(/[.,;:!?)\]}']+$/, "");
      const [start, end] = [match.index, match.index + words.length];
      if (found.every((other) => end <= other.start || other.end <= start)) {
        found.push({ ...parseReference(words.replace(/^@file:"?|"$/g, "")), start, end });
      }
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** The reference, if the whole text is a reference, as is common in backticks. */
export function wholeReference(text: string): Reference | undefined {
  const [only] = findReferences(text);
  return only?.start === 0 && only.end === text.length ? only : undefined;
}

export type Target = { readonly url: string } | Reference;

/** The target of a Markdown link: a web page or a file. Undefined if the link is not allowed. */
export function linkTarget(href: string): Target | undefined {
  if (/^https?:\/\/[^/\s]/i.test(href)) {
    return { url: href };
  }
  const { path, ...lines } = parseReference(href);
  try {
    const decoded = decodeURIComponent(path);
    return NO_PATH.test(decoded) || decoded.startsWith("#") ? undefined : { path: decoded, ...lines };
  } catch {
    return undefined;
  }
}
