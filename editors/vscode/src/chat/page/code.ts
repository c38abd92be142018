/** A code block with the buttons Copy, Insert and Apply. It grows in place while the model writes it. */

import { button, h, setText } from "./element";
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
      page.post({ kind, text: this.source });
    };
    const copy = button("Copy", () => this.copied(page, copy), { "aria-label": `Copy ${name}`, title: "Copy" });
    const bar = h(
      "div",
      { class: "code-bar" },
      h("span", { class: "language" }, language),
      copy,
      button("Insert", act("insert"), { "aria-label": `Insert ${name} at the cursor`, title: "Insert at the cursor" }),
      button("Apply", act("apply"), { "aria-label": `Apply ${name} to the file`, title: "Let Tark apply the code to the file; you review the change" }),
    );
    const frame = h("pre", { tabindex: 0, role: "group", "aria-label": `Code${language === "" ? "" : `, ${language}`}` }, this.code);
    this.element = h("div", { class: "code" }, bar, frame);
  }

  private copied(page: Page, copy: HTMLButtonElement): void {
    page.post({ kind: "copy", text: this.source });
    page.announce("Copied");
    setText(copy, "Copied");
    setTimeout(() => setText(copy, "Copy"), COPIED_MS);
  }

  hasLanguage(language: string): boolean {
    return this.language === language;
  }

  /** `done`: the code is complete, so it is highlighted. */
  draw(source: string, done: boolean): void {
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
