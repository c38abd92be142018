/** The list of mentions and named prompts below the prompt. The focus stays in the prompt, whose keys select a row. */

import { counted } from "../../text/figures";
import type { CompletionRow } from "../messages";
import { h, setAttribute } from "./element";
import type { Page } from "./page";
import { chatLine } from "../../text/surfaces";

const MOST = 50;
const KEYS: Readonly<Record<string, (list: CompletionList) => void>> = {
  ArrowDown: (list) => list.moveChoice(1),
  ArrowUp: (list) => list.moveChoice(-1),
  Enter: (list) => list.acceptChosen(),
  Tab: (list) => list.acceptChosen(),
  Escape: (list) => list.close(),
};

export class CompletionList {
  readonly element = h("ul", { class: "completion", role: "listbox", id: "completion", "aria-label": "Mentions and prompts", hidden: true });
  private rows: readonly CompletionRow[] = [];
  private chosen = 0;
  private asked = 0;
  private at = 0; // the cursor position of the request

  constructor(
    private readonly page: Page,
    private readonly prompt: HTMLTextAreaElement,
    private readonly onAccepted: (row: CompletionRow) => void,
  ) {
    setAttribute(prompt, "aria-autocomplete", "list");
    setAttribute(prompt, "aria-controls", "completion");
    document.addEventListener("selectionchange", () => {
      if (!this.element.hidden && prompt.selectionStart !== this.at) {
        this.close(); // the cursor moved
      }
    });
  }

  /** Called after each change. Asks the server if the word before the cursor could be a mention or a prompt name. */
  requestCompletion(): void {
    const { value, selectionStart: offset } = this.prompt;
    const word = /(?:^\s*\/[\w-]*|@\S*|@(?:file|dir):"[^"\n]*)$/.exec(value.slice(0, offset));
    this.asked += 1;
    this.at = offset;
    if (word === null || offset !== this.prompt.selectionEnd) {
      this.close();
    } else {
      this.page.post({ kind: "complete", id: this.asked, text: value, offset });
    }
  }

  /** Ignores answers to earlier requests. */
  showRows(id: number, rows: readonly CompletionRow[]): void {
    if (id !== this.asked) {
      return;
    }
    this.rows = rows.slice(0, MOST);
    this.chosen = 0;
    this.element.replaceChildren(...this.rows.map((row, index) => this.option(row, index)));
    this.element.hidden = this.rows.length === 0;
    if (this.rows.length > 0) {
      this.page.announce(`${counted(this.rows.length, "suggestion")}. Use the arrow keys to choose.`);
    }
    this.mark();
  }

  /** Returns true if the list handled the key. */
  handleKey(event: KeyboardEvent): boolean {
    const does = this.element.hidden || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
    does?.(this);
    return does !== undefined;
  }

  moveChoice(step: number): void {
    this.chosen = (this.chosen + step + this.rows.length) % this.rows.length;
    this.mark();
  }

  acceptChosen(): void {
    const row = this.rows[this.chosen];
    const isThere = this.prompt.selectionStart === this.at && this.prompt.selectionEnd === this.at;
    this.close();
    if (row !== undefined && isThere) {
      const to = Math.max(row.to, this.at);
      const needsSpace = !row.insert.endsWith(":") && row.runs === undefined && !/^\s/.test(this.prompt.value.slice(to));
      this.prompt.setRangeText(needsSpace ? `${row.insert} ` : row.insert, row.from, to, "end");
      this.onAccepted(row);
      if (row.insert.endsWith(":")) {
        this.requestCompletion(); // its value is completed next
      }
    }
  }

  close(): void {
    this.asked += 1;
    this.rows = [];
    this.element.hidden = true;
    this.element.replaceChildren();
    setAttribute(this.prompt, "aria-activedescendant", undefined);
  }

  private option(row: CompletionRow, index: number): HTMLElement {
    const option = h("li", { role: "option", id: `completion-${index}`, tabindex: -1 }, chatLine(row.label));
    if (row.detail !== undefined && row.detail !== "") {
      option.append(h("span", { class: "faint" }, ` ${chatLine(row.detail)}`));
    }
    option.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the focus stays in the prompt
      this.chosen = index;
      this.acceptChosen();
    });
    return option;
  }

  private mark(): void {
    [...this.element.children].forEach((option, index) => {
      setAttribute(option, "aria-selected", String(index === this.chosen));
    });
    const chosen = this.element.children[this.chosen];
    chosen?.scrollIntoView({ block: "nearest" });
    setAttribute(this.prompt, "aria-activedescendant", chosen?.id);
  }
}
