/** The list of mentions and named prompts below the prompt: the focus stays in the prompt, its keys choose. */

import { counted } from "../../text/figures";
import type { CompletionRow } from "../messages";
import { h, set } from "./element";
import type { Page } from "./page";
import { oneLine } from "./prose";

const MOST = 50;
const KEYS: Readonly<Record<string, (list: CompletionList) => void>> = {
  ArrowDown: (list) => list.move(1),
  ArrowUp: (list) => list.move(-1),
  Enter: (list) => list.take(),
  Tab: (list) => list.take(),
  Escape: (list) => list.close(),
};

export class CompletionList {
  readonly element = h("ul", { class: "completion", role: "listbox", id: "completion", "aria-label": "Mentions and prompts", hidden: true });
  private rows: readonly CompletionRow[] = [];
  private chosen = 0;
  private asked = 0;
  private at = 0; // where the cursor was

  constructor(
    private readonly page: Page,
    private readonly prompt: HTMLTextAreaElement,
    private readonly taken: () => void,
  ) {
    set(prompt, "aria-autocomplete", "list");
    set(prompt, "aria-controls", "completion");
    document.addEventListener("selectionchange", () => {
      if (!this.element.hidden && prompt.selectionStart !== this.at) {
        this.close(); // the cursor went elsewhere, by a key or the mouse
      }
    });
  }

  /** Asked of the server after each key, where a word stands that could be a mention or a prompt's name. */
  ask(): void {
    const { value, selectionStart: offset } = this.prompt;
    const word = /(?:^\s*\/[\w-]*|@\S*|@(?:file|dir):"[^"\n]*)$/.exec(value.slice(0, offset));
    this.asked += 1;
    this.at = offset;
    if (word === null || offset !== this.prompt.selectionEnd) {
      this.close();
    } else {
      this.page.tell({ kind: "complete", id: this.asked, text: value, offset });
    }
  }

  /** An answer to an earlier question comes too late. */
  show(id: number, rows: readonly CompletionRow[]): void {
    if (id !== this.asked) {
      return;
    }
    this.rows = rows.slice(0, MOST);
    this.chosen = 0;
    this.element.replaceChildren(...this.rows.map((row, index) => this.option(row, index)));
    this.element.hidden = this.rows.length === 0;
    if (this.rows.length > 0) {
      this.page.announce(`${counted(this.rows.length, "suggestion")}, arrow keys choose`);
    }
    this.mark();
  }

  /** Whether it was one of its keys. */
  pressed(event: KeyboardEvent): boolean {
    const does = this.element.hidden || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
    does?.(this);
    return does !== undefined;
  }

  move(step: number): void {
    this.chosen = (this.chosen + step + this.rows.length) % this.rows.length;
    this.mark();
  }

  take(): void {
    const row = this.rows[this.chosen];
    const isThere = this.prompt.selectionStart === this.at && this.prompt.selectionEnd === this.at;
    this.close();
    if (row !== undefined && isThere) {
      this.prompt.setRangeText(row.insert, row.from, Math.max(row.to, this.at), "end");
      this.taken();
      if (row.insert.endsWith(":")) {
        this.ask(); // what is mentioned is said next
      }
    }
  }

  close(): void {
    this.asked += 1;
    this.rows = [];
    this.element.hidden = true;
    set(this.prompt, "aria-activedescendant", undefined);
  }

  private option(row: CompletionRow, index: number): HTMLElement {
    const option = h("li", { role: "option", id: `completion-${index}` }, oneLine(row.label));
    if (row.detail !== undefined && row.detail !== "") {
      option.append(h("span", { class: "faint" }, ` ${oneLine(row.detail)}`));
    }
    option.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the focus stays in the prompt
      this.chosen = index;
      this.take();
    });
    return option;
  }

  private mark(): void {
    [...this.element.children].forEach((option, index) => {
      set(option, "aria-selected", String(index === this.chosen));
    });
    const chosen = this.element.children[this.chosen];
    chosen?.scrollIntoView({ block: "nearest" });
    set(this.prompt, "aria-activedescendant", chosen?.id);
  }
}
