/** The start of a text for screen readers: its words, without Markdown syntax. Pure. */

import type { Token } from "markdown-it";
import { chatLine } from "../../text/surfaces";
import { parseSource, sourceOf } from "./parser";

const LONGEST = 300; // characters
const READ = 4000; // characters of the source: more cannot be needed

export function spokenText(markdown: string): string {
  const parts = parseSource(sourceOf(markdown.slice(0, READ)), {}).map(blockWords).filter((words) => words !== "");
  return chatLine(parts.join(" ")).slice(0, LONGEST).trim();
}

/** A block without punctuation at its end gets a period, so that the screen reader pauses. */
function blockWords(token: Token): string {
  if (token.type === "fence" || token.type === "code_block") {
    return "(code)";
  }
  const words = token.type === "inline" ? (token.children ?? []).map(inlineWords).join("").trim() : "";
  const task = words.replace(/^\[([ xX])\] /, (_, sign: string) => (sign === " " ? "to do: " : "done: "));
  return task === "" || /[.!?:;,)]$/.test(task) ? task : `${task}.`;
}

function inlineWords({ type, content }: Token): string {
  switch (type) {
    case "softbreak":
    case "hardbreak":
      return " ";
    case "image":
      return `image: ${content}`;
    default:
      return content; // of text and code; the signs around them have none
  }
}
