/** A code block with its buttons. It grows in place while the model writes it. */

import { languageOf } from "../../text/codeBlocks";
import { button, h, setAttribute, setText } from "./element";
import { highlighted } from "./highlight";
import type { Page } from "./page";

const COPIED_MS = 1500;
const LOOKED_AT = 500; // characters of the text before the block, which can name its file

export class CodeView {
  readonly element: HTMLElement;
  private readonly code = h("code");
  private readonly apply: HTMLButtonElement;
  private readonly language: string;
  private source = "";

  /** `info`: the words after the opening fence. */
  constructor(
    private readonly page: Page,
    private readonly info: string,
  ) {
    this.language = languageOf(info);
    const name = this.language === "" ? "code" : this.language;
    const copy = button("Copy", () => this.copied(copy), { "aria-label": `Copy ${name}`, title: "Copy" });
    const insert = (): void => page.post({ kind: "insert", text: this.source });
    this.apply = button("Apply", () => this.post("apply"), { "aria-label": `Apply ${name} to the file`, title: "Put the code into its file; you review the change" });
    const bar = h(
      "div",
      { class: "code-bar" },
      h("span", { class: "language" }, this.language),
      copy,
      this.apply,
      button("Insert", insert, { "aria-label": `Insert ${name} at the cursor`, title: "Insert at the cursor" }),
      button("New File", () => this.post("newFile"), { "aria-label": `Open ${name} in a new file`, title: "Open in a new file" }),
    );
    const frame = h("pre", { tabindex: 0, role: "group", "aria-label": `Code${this.language === "" ? "" : `, ${this.language}`}` }, this.code);
    this.element = h("div", { class: "code" }, bar, frame);
  }

  private copied(copy: HTMLButtonElement): void {
    this.page.post({ kind: "copy", text: this.source });
    this.page.announce("Copied");
    setText(copy, "Copied");
    setTimeout(() => setText(copy, "Copy"), COPIED_MS);
  }

  /** The text before the block is read from the page, since the parser draws it separately while the text grows. */
  private post(kind: "apply" | "newFile"): void {
    const previous = this.element.previousElementSibling;
    const before = previous === null || previous.classList.contains("code") ? "" : previous.textContent.slice(-LOOKED_AT);
    this.page.post({ kind, text: this.source, info: this.info, before });
  }

  hasInfo(info: string): boolean {
    return this.info === info;
  }

  /** `done`: the code is complete, so it is highlighted, and can be applied. */
  draw(source: string, done: boolean): void {
    setAttribute(this.apply, "hidden", !done);
    if (done) {
      this.code.replaceChildren(...highlightedNodes(source, this.language));
    } else if (source.startsWith(this.source) && this.code.childNodes.length > 0) {
      this.code.append(source.slice(this.source.length));
    } else {
      this.code.textContent = source;
    }
    this.source = source;
  }
}

function highlightedNodes(source: string, language: string): Node[] {
  return highlighted(source, language).map(({ text, scope }) =>
    scope === undefined
      ? document.createTextNode(text)
      : h("span", { class: `hl-${scope.replace(/[^a-z_].*$/s, "")}` }, text),
  );
}
