/** Draws the model's Markdown. While the text grows, only its last block is redrawn, and a long block less often. */

import type { Token } from "markdown-it";
import type { CodeView } from "./code";
import { Drawing, LOWEST_HEADING } from "./drawing";
import { h } from "./element";
import type { Page } from "./page";
import { parseSource, sourceOf } from "./parser";
import { chatProse, documentText } from "../../text/surfaces";

const LONGEST = 300_000; // characters; longer text is shown as plain text
const SLOW = 10_000; // characters of a growing block; a longer one is redrawn only every SLOW_MS
const SLOW_MS = 200;
const PLAIN = 30_000; // characters of a growing block; a longer one is plain text until it is complete

export class MarkdownView {
  readonly element = h("div", { class: "markdown" });
  private source = "";
  private done = 0; // characters of the blocks that are final
  private open: readonly Node[] = []; // the elements of the rest
  private latest = "";
  private later: ReturnType<typeof setTimeout> | undefined;
  private code: CodeView | undefined; // the block of the rest, if it is code
  private heading = LOWEST_HEADING; // the level of the last heading up to `done`
  private environment = {};

  constructor(private readonly page: Page) {}

  /** `over`: the text is complete. */
  draw(text: string, over: boolean): void {
    if (!over && text.length - this.done > SLOW) {
      this.latest = text;
      this.later ??= setTimeout(() => this.drawNow(this.latest, false), SLOW_MS);
    } else {
      this.drawNow(text, over);
    }
  }

  private drawNow(text: string, over: boolean): void {
    clearTimeout(this.later);
    this.later = undefined;
    if (text.length > LONGEST) {
      this.element.replaceChildren(h("pre", { class: "plain", tabindex: 0 }, chatProse(text)));
      return;
    }
    const source = sourceOf(text);
    if (!source.startsWith(this.source.slice(0, this.done))) {
      this.element.replaceChildren();
      [this.done, this.open, this.code] = [0, [], undefined];
      [this.heading, this.environment] = [LOWEST_HEADING, {}];
    }
    this.source = source;
    const rest = source.slice(this.done);
    if (!over && rest.length > PLAIN) {
      this.drawOpen([h("pre", { class: "plain", tabindex: 0 }, rest)]);
      this.code = undefined;
      return;
    }
    const tokens = parseSource(rest, this.environment);
    const starts = blockStarts(tokens);
    const last = starts.at(-1);
    if (!over && starts.length === 1 && this.extendCode(tokens[0]!)) {
      return;
    }
    const final = new Drawing(this.page, this.heading);
    final.draw(tokens.slice(0, last), true);
    const open = new Drawing(this.page, final.heading);
    open.draw(tokens.slice(last), over);
    this.drawOpen([...open.root.childNodes], final.root);
    this.code = open.code;
    this.heading = final.heading;
    this.done += last === undefined ? 0 : offset(rest, tokens[last]!.map?.[0] ?? 0);
  }

  /** Replaces the elements that can still change, after the final ones. */
  private drawOpen(nodes: readonly Node[], stays?: Node): void {
    for (const node of this.open) {
      node.parentNode?.removeChild(node);
    }
    this.open = nodes;
    this.element.append(...(stays ? [stays] : []), ...nodes);
  }

  /** Extends the code block at the end, so that its buttons stay. Returns false if there is none. */
  private extendCode(token: Token): boolean {
    if (token.type !== "fence" || !this.code?.hasInfo(token.info)) {
      return false;
    }
    this.code.draw(documentText(token.content), false);
    return true;
  }
}

/** The indexes of the tokens that start a block. */
function blockStarts(tokens: readonly Token[]): number[] {
  return tokens.flatMap((token, index) => (token.level === 0 && token.nesting >= 0 && token.map ? [index] : []));
}

/** The offset of the start of a line. */
function offset(text: string, line: number): number {
  let at = 0;
  for (let passed = 0; passed < line; passed += 1) {
    at = text.indexOf("\n", at) + 1;
  }
  return at;
}
