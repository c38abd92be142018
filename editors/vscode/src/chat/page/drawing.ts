/**
 * Converts tokens of markdown-it to elements. It never writes or parses HTML and loads nothing. Links only tell the
 * extension where the user wants to go.
 */

import type { Token } from "markdown-it";
import { chatProse, documentText } from "../../text/surfaces";
import { CodeView } from "./code";
import { h } from "./element";
import { linkElement } from "./link";
import type { Page } from "./page";
import { findReferences, linkTarget, wholeReference } from "./references";

const ELEMENTS = new Set(
  ["p", "blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "s"] as const,
);
const TASK = /^\[([ xX])\] /;
export const LOWEST_HEADING = 2; // the heading "Tark" above the answer

/** Builds nested elements from tokens. */
export class Drawing {
  readonly root = document.createDocumentFragment();
  /** The last block, if it is code. */
  code: CodeView | undefined;
  private readonly parents: (Node & ParentNode)[] = [this.root];
  private links = 0; // open link elements

  constructor(
    private readonly page: Page,
    public heading: number,
  ) {}

  /** `done`: the last block is complete. */
  draw(tokens: readonly Token[], done: boolean): void {
    tokens.forEach((token, index) => this.token(token, done || index < tokens.length - 1));
  }

  private token(token: Token, done: boolean): void {
    if (token.type === "inline") {
      const children = token.children ?? [];
      const task = TASK.exec(children[0]?.type === "text" ? children[0].content : "");
      const item = task === null ? undefined : this.emptyItem();
      if (task !== null && item !== undefined) {
        this.checkbox(item, task[1] !== " ");
        children[0]!.content = children[0]!.content.slice(task[0].length);
      }
      for (const child of children) {
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
      const to = linkTarget(href);
      this.links += 1;
      this.enter(to === undefined ? h("span") : linkElement(this.page, to, href));
    } else if (token.type === "heading_open") {
      // Heading levels must not skip one, whatever level the model uses.
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

  /** The list item that is still empty. */
  private emptyItem(): HTMLElement | undefined {
    const parent = this.parents.at(-1);
    const item = parent?.nodeName === "P" ? this.parents.at(-2) : parent;
    return item?.nodeName === "LI" && item.textContent === "" ? (item as HTMLElement) : undefined;
  }

  /** The checkbox of a task list. It is text, because it cannot be changed here. */
  private checkbox(item: HTMLElement, checked: boolean): void {
    item.classList.add("task");
    this.add(h("span", { class: "box-sign", "aria-hidden": "true" }, checked ? "☑ " : "☐ "), h("span", { class: "unseen" }, checked ? "done: " : "to do: "));
  }

  private leaf(token: Token, done: boolean): void {
    this.code = undefined;
    switch (token.type) {
      case "fence":
      case "code_block": {
        const view = new CodeView(this.page, token.info);
        view.draw(documentText(token.content), done);
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
        this.text(chatProse(token.content)); // the parser has decoded entities such as &#x202e;
    }
  }

  /** Inline code that names a file and a line becomes a link. */
  private inlineCode(words: string): void {
    const to = this.links === 0 ? wholeReference(words) : undefined;
    const code = h("code", {}, documentText(words));
    if (to === undefined) {
      this.add(code);
    } else {
      const link = linkElement(this.page, to, words);
      link.append(code);
      this.add(link);
    }
  }

  /** Images are not loaded. Shows their name, as a link if the address is allowed. */
  private image(token: Token): void {
    const href = String(token.attrGet("src") ?? "");
    const to = this.links === 0 ? linkTarget(href) : undefined;
    const name = `[image: ${token.content === "" ? "no name" : chatProse(token.content)}]`;
    const element = to === undefined ? h("span") : linkElement(this.page, to, href);
    element.append(name);
    this.add(element);
  }

  private text(words: string): void {
    let at = 0;
    for (const found of this.links === 0 ? findReferences(words) : []) {
      const shown = words.slice(found.start, found.end);
      const link = linkElement(this.page, found, shown);
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
