/** A block of code with its buttons: copy, insert at the cursor, apply. Grows in place while it is written. */

import { button, h, say } from "./element";
import { highlighted } from "./highlight";
import type { Page } from "./page";

const COPIED_MS = 1500;

export class CodeView {
  readonly element: HTMLElement;
  private readonly code = h("code");
  private source = "";

  constructor(
    page: Page,
    private readonly language: string,
  ) {
    const name = language === "" ? "code" : language;
    const act = (kind: "insert" | "apply") => () => {
      page.tell({ kind, text: this.source });
    };
    const copy = button("Copy", () => this.copied(page, copy), { "aria-label": `Copy ${name}`, title: "Copy" });
    const bar = h(
      "div",
      { class: "code-bar" },
      h("span", { class: "language" }, language),
      copy,
      button("Insert", act("insert"), { "aria-label": `Insert ${name} at the cursor`, title: "Insert at the cursor" }),
      button("Apply", act("apply"), { "aria-label": `Apply ${name} to the file`, title: "Have it worked into the file; you review it" }),
    );
    const frame = h("pre", { tabindex: 0, role: "group", "aria-label": `Code${language === "" ? "" : `, ${language}`}` }, this.code);
    this.element = h("div", { class: "code" }, bar, frame);
  }

  private copied(page: Page, copy: HTMLButtonElement): void {
    page.tell({ kind: "copy", text: this.source });
    page.announce("Copied");
    say(copy, "Copied");
    setTimeout(() => say(copy, "Copy"), COPIED_MS);
  }

  is(language: string): boolean {
    return this.language === language;
  }

  /** `done`: nothing is added any more, so that it is worth colours. */
  draw(source: string, done: boolean): void {
    if (done) {
      this.code.replaceChildren(...runs(source, this.language));
    } else if (source.startsWith(this.source) && this.code.childNodes.length > 0) {
      this.code.append(source.slice(this.source.length));
    } else {
      this.code.textContent = source;
    }
    this.source = source;
  }
}

function runs(source: string, language: string): Node[] {
  return highlighted(source, language).map(({ text, scope }) =>
    scope === undefined
      ? document.createTextNode(text)
      : h("span", { class: `hl-${scope.replace(/[^a-z_].*$/s, "")}` }, text),
  );
}
