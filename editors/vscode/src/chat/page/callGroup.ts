/** Consecutive read-only calls, folded into one row. */

import type { CallView } from "../messages";
import { callRow, readsWords } from "./callRow";
import { h, setAttribute, setText } from "./element";
import { rememberOpened, type Page } from "./page";
import { STATUSES } from "./wording";

/** The status of the row: the first of these that a call of the group has. */
const ORDER = ["waiting", "in_progress", "pending", "failed", "rejected", "cancelled", "completed"];

export class CallGroup {
  readonly element: HTMLDetailsElement;
  private readonly sign = h("span", { class: "sign", "aria-hidden": "true" });
  private readonly title = h("span", { class: "title" });
  private readonly word = h("span", { class: "unseen" });
  private readonly body = h("div", { class: "body" });
  private readonly calls = new Map<number, CallView>();

  /** `first`: the element of the first call, whose place the group takes. */
  constructor(
    page: Page,
    key: string,
    private readonly folders: () => readonly string[],
    first: HTMLElement,
  ) {
    const summary = h("summary", {}, this.sign, this.title, this.word);
    this.element = h("details", { class: "reads", open: page.kept.opened[key] === true }, summary, this.body);
    rememberOpened(page, key, summary, this.element);
    first.replaceWith(this.element);
    this.body.append(first);
  }

  addElement(element: HTMLElement): void {
    this.body.append(element);
  }

  drawCall(index: number, call: CallView): void {
    this.calls.set(index, call);
    const calls = [...this.calls.values()];
    const status = ORDER.find((one) => calls.some((other) => other.status === one)) ?? "completed";
    const running = status === "in_progress" || status === "waiting" ? calls.find((other) => other.status === status) : undefined;
    const bad = calls.filter((other) => other.status === "failed" || other.status === "rejected").length;
    const row = running && callRow(running, this.folders(), 0);
    setAttribute(this.element, "data-status", status);
    setText(this.sign, STATUSES[status]?.sign ?? "");
    setText(this.title, [readsWords(calls), bad > 0 && `${bad} failed`, row && `${row.verb} ${row.subject}`].filter(Boolean).join(" · "));
    setText(this.word, ` ${STATUSES[status]?.word ?? ""}`);
  }
}
