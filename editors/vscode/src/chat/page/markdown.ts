/**
 * Markdown of the model as elements: made of markdown-it's tokens one by one, from the table below. No HTML is written or
 * read on the way, nothing is loaded, and links only tell the extension where the person wants to go.
 *
 * While a text grows only its last block is made anew.
 */

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { withCitations } from "./citations";
import { CodeView } from "./code";
import { h } from "./element";
import { linked } from "./link";
import type { Page } from "./page";
import { prose } from "./prose";
import { references, target, wholeReference } from "./references";
import { code as visible } from "../../visible";

const LONGEST = 300_000; // characters: what is longer is shown as it is
const SLOW = 10_000; // characters of a block that grows: a longer one is drawn some times a second
const SLOW_MS = 200;
const PLAIN = 30_000; // as it is, until it is over
const ELEMENTS = new Set(
  ["p", "blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "s"] as const,
);
const LOWEST_HEADING = 2; // "Tark", above the answer

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// Only what says that it is a page: no guessed hosts, no mail, no //host.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
for (const schema of ["ftp:", "mailto:", "//"]) {
  parser.linkify.add(schema, null);
}
parser.validateLink = () => true; // `target` decides, and what it does not know is no link

export class MarkdownView {
  readonly element = h("div", { class: "markdown" });
  private source = "";
  private done = 0; // characters whose blocks stay as they are
  private open: readonly Node[] = []; // of the rest
  private latest = "";
  private later: ReturnType<typeof setTimeout> | undefined;
  private code: CodeView | undefined; // the only block of the rest
  private heading = LOWEST_HEADING; // the last one's level, up to `done`
  private environment = {};

  constructor(private readonly page: Page) {}

  /** `over`: nothing is added to it any more. */
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
      this.element.replaceChildren(h("pre", { class: "plain", tabindex: 0 }, prose(text)));
      return;
    }
    const source = withCitations(prose(text));
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
    const tokens = parser.parse(rest, this.environment);
    const starts = blockStarts(tokens);
    const last = starts.at(-1);
    if (!over && starts.length === 1 && this.grew(tokens[0]!)) {
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

  /** What may change yet, in place of what could until now; below what stays. */
  private drawOpen(nodes: readonly Node[], stays?: Node): void {
    for (const node of this.open) {
      node.parentNode?.removeChild(node);
    }
    this.open = nodes;
    this.element.append(...(stays ? [stays] : []), ...nodes);
  }

  /** The block of code at the end is longer: its buttons stay where they are. */
  private grew(token: Token): boolean {
    if (token.type !== "fence" || !this.code?.is(language(token))) {
      return false;
    }
    this.code.draw(visible(token.content), false);
    return true;
  }
}

/** Indexes of the tokens that begin a block of the text. */
function blockStarts(tokens: readonly Token[]): number[] {
  return tokens.flatMap((token, index) => (token.level === 0 && token.nesting >= 0 && token.map ? [index] : []));
}

/** Of the beginning of a line. */
function offset(text: string, line: number): number {
  let at = 0;
  for (let passed = 0; passed < line; passed += 1) {
    at = text.indexOf("\n", at) + 1;
  }
  return at;
}

function language(token: Token): string {
  return (/^[\w+#.-]{1,30}/.exec(token.info.trim())?.[0] ?? "").toLowerCase();
}

/** Tokens become elements, the one in the other. */
class Drawing {
  readonly root = document.createDocumentFragment();
  /** The last block, where it is code. */
  code: CodeView | undefined;
  private readonly parents: (Node & ParentNode)[] = [this.root];
  private links = 0; // links that are open

  constructor(
    private readonly page: Page,
    public heading: number,
  ) {}

  /** `done`: its last block does not grow any more. */
  draw(tokens: readonly Token[], done: boolean): void {
    tokens.forEach((token, index) => this.token(token, done || index < tokens.length - 1));
  }

  private token(token: Token, done: boolean): void {
    if (token.type === "inline") {
      for (const child of token.children ?? []) {
        this.token(child, done);
      }
    } else if (token.hidden) {
      return; // the paragraphs of a tight list
    } else if (token.nesting > 0) {
      this.begin(token);
    } else if (token.nesting < 0) {
      this.end(token);
    } else {
      this.leaf(token, done);
    }
  }

  private begin(token: Token): void {
    const name = token.tag as typeof ELEMENTS extends Set<infer Name> ? Name : never;
    if (token.type === "link_open") {
      const href = String(token.attrGet("href") ?? "");
      const to = target(href);
      this.links += 1;
      this.enter(to === undefined ? h("span") : linked(this.page, to, href));
    } else if (token.type === "heading_open") {
      // The levels of a page go down by one at a time, whatever the model thinks.
      this.heading = Math.min(Number(token.tag.slice(1)) + LOWEST_HEADING, this.heading + 1, 6);
      this.enter(h(`h${this.heading}` as "h6"));
    } else if (name === "table") {
      this.enter(h("div", { class: "table", tabindex: 0, role: "group", "aria-label": "Table" }));
      this.enter(h("table"));
    } else if (name === "ol") {
      this.enter(h("ol", { start: Number(token.attrGet("start") ?? 1) || undefined }));
    } else {
      this.enter(h(ELEMENTS.has(name) ? name : "span"));
    }
  }

  private end(token: Token): void {
    this.leave();
    if (token.type === "link_close") {
      this.links -= 1;
    } else if (token.tag === "table") {
      this.leave();
    }
  }

  private leaf(token: Token, done: boolean): void {
    this.code = undefined;
    switch (token.type) {
      case "fence":
      case "code_block": {
        const view = new CodeView(this.page, language(token));
        view.draw(visible(token.content), done);
        this.code = this.parents.length === 1 ? view : undefined;
        this.add(view.element);
        break;
      }
      case "hr":
        this.add(h("hr"));
        break;
      case "hardbreak":
        this.add(h("br"));
        break;
      case "softbreak":
        this.add("\n");
        break;
      case "code_inline":
        this.inlineCode(token.content);
        break;
      case "image":
        this.image(token);
        break;
      default:
        this.text(token.content);
    }
  }

  /** Code that names a place is a link there. */
  private inlineCode(words: string): void {
    const to = this.links === 0 ? wholeReference(words) : undefined;
    const code = h("code", {}, visible(words));
    if (to === undefined) {
      this.add(code);
    } else {
      const link = linked(this.page, to, words);
      link.append(code);
      this.add(link);
    }
  }

  /** Pictures are not loaded: what they are called, as a link where that leads somewhere. */
  private image(token: Token): void {
    const href = String(token.attrGet("src") ?? "");
    const to = this.links === 0 ? target(href) : undefined;
    const name = `[picture: ${token.content === "" ? "no name" : token.content}]`;
    const element = to === undefined ? h("span") : linked(this.page, to, href);
    element.append(name);
    this.add(element);
  }

  private text(words: string): void {
    let at = 0;
    for (const found of this.links === 0 ? references(words) : []) {
      const shown = words.slice(found.start, found.end);
      const link = linked(this.page, found, shown);
      link.append(shown);
      this.add(words.slice(at, found.start), link);
      at = found.end;
    }
    this.add(words.slice(at));
  }

  private enter(element: HTMLElement): void {
    this.add(element);
    this.parents.push(element);
  }

  private leave(): void {
    if (this.parents.length > 1) {
      this.parents.pop();
    }
  }

  private add(...nodes: (Node | string)[]): void {
    this.parents.at(-1)!.append(...nodes.filter((node) => node !== ""));
  }
}
