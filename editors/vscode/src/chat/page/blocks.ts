/** Draws one block of a turn: text, thinking, a tool call or a notice. A folded block is drawn when it is opened. */

import type { BlockView, CallView, Diff } from "../messages";
import { diffElement } from "./diff";
import { h, setText, setAttribute } from "./element";
import { MarkdownView } from "./markdown";
import { rememberOpened, type Page } from "./page";
import { counted } from "../../text/figures";
import { type CallRow, callRow, hasFailed, isUnchanged } from "./callRow";
import { callProblem, fileName, retryOf, STATUSES } from "./wording";
import { chatProse, documentText } from "../../text/surfaces";

export interface DrawnBlock {
  readonly element: HTMLElement;
  /** `grows`: more text can be added at its end. */
  draw(block: BlockView, grows: boolean): void;
}

/** What a block gets from its turn. */
export interface BlockContext {
  readonly key: string;
  folders(): readonly string[];
}

export function newBlock(page: Page, place: BlockContext, block: BlockView): DrawnBlock {
  switch (block.kind) {
    case "thinking":
      return new Thinking(page, place);
    case "toolCall":
      return new Call(page, place);
    case "notice":
      return new Notice();
    case "text":
    case "prompt":
      return new Words(page, block.kind === "prompt");
  }
}

class Words implements DrawnBlock {
  readonly element: HTMLElement;
  private readonly view: MarkdownView;

  constructor(page: Page, isPrompt: boolean) {
    this.view = new MarkdownView(page);
    this.element = isPrompt ? h("div", { class: "steered" }, h("h3", {}, "You, while the turn was running"), this.view.element) : this.view.element;
  }

  draw(block: BlockView, grows: boolean): void {
    if ("text" in block) {
      this.view.draw(block.text, !grows);
    }
  }
}

class Notice implements DrawnBlock {
  readonly element = h("p");
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private isOver = false; // the time until the retry

  draw(block: BlockView, grows: boolean): void {
    if (block.kind === "notice") {
      const retry = retryOf(block.message);
      const level = block.level === "error" || block.level === "warning" ? block.level : "info";
      this.element.className = `notice ${level}${retry === undefined ? "" : " retry"}`;
      const waits = retry !== undefined && grows && !this.isOver;
      setText(this.element, chatProse(waits ? block.message : (retry?.past ?? block.message)));
      if (waits) {
        this.waiting ??= setTimeout(() => {
          this.isOver = true;
          this.draw(block, grows);
        }, retry.ms);
      } else {
        clearTimeout(this.waiting);
      }
    }
  }
}

/** A block that the user can open and close. Remembers whether it is open, and draws its body only then. */
abstract class Folded implements DrawnBlock {
  readonly element: HTMLDetailsElement;
  protected readonly summary = h("summary");
  protected readonly body = h("div", { class: "body" });
  private block: BlockView | undefined;
  private grows = false;

  constructor(
    protected readonly page: Page,
    protected readonly place: BlockContext,
    kind: string,
  ) {
    this.element = h("details", { class: kind, open: page.kept.opened[place.key] === true }, this.summary, this.body);
    rememberOpened(page, place.key, this.summary, this.element);
    this.element.addEventListener("toggle", () => this.drawBody());
  }

  draw(block: BlockView, grows: boolean): void {
    [this.block, this.grows] = [block, grows];
    this.drawSummary(block);
    this.drawBody();
  }

  private drawBody(): void {
    if (this.element.open && this.block !== undefined) {
      this.fill(this.block, this.grows);
    }
  }

  protected abstract drawSummary(block: BlockView): void;
  protected abstract fill(block: BlockView, grows: boolean): void;
}

class Thinking extends Folded {
  private readonly view: MarkdownView;

  constructor(page: Page, place: BlockContext) {
    super(page, place, "thinking");
    this.view = new MarkdownView(page);
    this.body.append(this.view.element);
  }

  protected drawSummary(block: BlockView): void {
    const lines = "text" in block ? block.text.trimEnd().split("\n").length : 0;
    setText(this.summary, `Thinking (${counted(lines, "line")})`);
  }

  protected fill(block: BlockView, grows: boolean): void {
    if ("text" in block) {
      this.view.draw(block.text, !grows);
    }
  }
}

class Call extends Folded {
  private readonly sign = h("span", { class: "sign", "aria-hidden": "true" });
  private readonly title = h("span", { class: "title" });
  private readonly word = h("span", { class: "unseen" });
  private readonly time = h("span", { class: "time" });
  private readonly why = h("span", { class: "why", hidden: true });
  private filled: BlockView | undefined;

  constructor(page: Page, place: BlockContext) {
    super(page, place, "call");
    this.summary.append(this.sign, this.title, this.word, this.time, this.why);
  }

  protected drawSummary(block: BlockView): void {
    if (block.kind === "toolCall") {
      const status = STATUSES[block.status] ?? STATUSES["pending"]!;
      setAttribute(this.element, "data-status", block.status);
      const failed = hasFailed(block);
      setAttribute(this.element, "data-failed", failed);
      const unchanged = isUnchanged(block);
      setAttribute(this.element, "data-unchanged", unchanged);
      setText(this.sign, failed ? "✗" : unchanged ? "=" : status.sign);
      const row = callRow(block, this.place.folders(), Date.now());
      this.drawTitle(row, block.status === "waiting");
      setText(this.word, ` ${status.word} `);
      setText(this.time, row.figures);
      const why = callProblem(block);
      this.why.hidden = why === "";
      setText(this.why, why);
    }
  }

  /** Draws only what changed, so that selected text stays selected. */
  private drawTitle({ verb, subject, lines, folder }: CallRow, waits: boolean): void {
    const parts: [name: keyof HTMLElementTagNameMap, kind: string, words: string][] = [
      ["span", "verb", verb],
      ["span", "subject", subject],
      ["ins", "added", lines && lines.added > 0 ? `+${lines.added}` : ""],
      ["del", "removed", lines && lines.removed > 0 ? `-${lines.removed}` : ""],
      ["span", "faint", folder ?? ""],
      ["span", "", waits ? "(waiting for you)" : ""],
    ];
    const shown = parts.filter(([, , words]) => words !== "");
    const line = shown.map(([, , words]) => words).join(" ");
    if (this.title.textContent !== line) {
      this.title.replaceChildren(...shown.flatMap(([name, kind, words], index) => [...(index > 0 ? [" "] : []), h(name, kind === "" ? {} : { class: kind }, words)]));
    }
  }

  protected fill(block: BlockView): void {
    if (block.kind === "toolCall" && this.filled !== block) {
      this.filled = block;
      this.body.replaceChildren(...this.parts(block));
    }
  }

  private parts(call: CallView): HTMLElement[] {
    const parts = (call.content ?? []).map((part) => this.part(part as { type?: string; text?: string } & Diff));
    if (parts.length === 0 && call.arguments !== undefined) {
      parts.push(h("pre", { tabindex: 0, role: "group", "aria-label": "Arguments" }, documentText(call.arguments)));
    }
    return [...this.locations(call), ...parts, ...(parts.length === 0 ? [h("p", { class: "faint" }, "Nothing to show yet")] : [])];
  }

  private part(part: { type?: string; text?: string } & Diff): HTMLElement {
    if (part.type === "diff") {
      return diffElement(this.page, part, this.place.folders());
    }
    return h("pre", { class: "plain", tabindex: 0, role: "group", "aria-label": "Result" }, documentText((part.text ?? "").replaceAll("\r\n", "\n")));
  }

  /** The files of the call, if no diff shows them. */
  private locations(call: CallView): HTMLElement[] {
    if ((call.content ?? []).some((part) => (part as { type?: string }).type === "diff")) {
      return [];
    }
    return (call.locations ?? []).map((location) => {
      const { uri, range } = location as { uri: string; range?: { start: { line: number } } };
      const line = range?.start.line;
      const name = `${fileName(uri, this.place.folders())}${line === undefined ? "" : `:${line + 1}`}`;
      const made = h("button", { type: "button", class: "file", title: `Open ${name}` }, name);
      made.addEventListener("click", () => this.page.post({ kind: "openUri", uri, ...(line !== undefined && { line }) }));
      return made;
    });
  }
}
