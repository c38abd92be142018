/** Parses the model's Markdown. */

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { chatProse } from "../../text/surfaces";
import { withCitations } from "./citations";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// Only full web addresses: no guessed hosts, no mail addresses, no //host.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
for (const schema of ["ftp:", "mailto:", "//"]) {
  parser.linkify.add(schema, null);
}
parser.validateLink = () => true; // `linkTarget` decides what becomes a link

/** The text that is parsed: invisible characters are shown, and citations are Markdown. */
export function sourceOf(text: string): string {
  return withCitations(chatProse(text));
}

/** `environment` keeps what the parser knows of the text before. */
export function parseSource(source: string, environment: Record<string, unknown>): Token[] {
  return parser.parse(source, environment);
}
