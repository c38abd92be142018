/** The header with the session's title, and the footer with model, agent, mode, approval level, context and cost. */

import { formatMoney } from "../../text/figures";
import type { PAGE_COMMANDS, Status } from "../messages";
import { button, h, setText, setAttribute } from "./element";
import type { Page } from "./page";
import { contextMeter } from "./wording";
import { chatLine } from "../../text/surfaces";

const SERVER = { none: "The server is not running. ", starting: "The server is starting…" };
const READ_ONLY = {
  held: "This session is open in another editor, so it is read-only here. ",
  elsewhere: "This session belongs to another workspace, so it is read-only here. ",
};

export class HeaderPart {
  readonly element: HTMLElement;
  private readonly title = h("span");
  private readonly notice = h("p", { class: "notice warning", hidden: true });
  readonly sessions: HTMLButtonElement;
  private readonly restart: HTMLElement;
  private readonly fork: HTMLElement;
  private sessionId: string | undefined;

  constructor(page: Page, toggleSessions: () => void) {
    this.sessions = button("", toggleSessions, { class: "title", title: "Sessions", "aria-expanded": "false", "aria-controls": "sessions" });
    this.sessions.append(this.title, h("span", { class: "unseen" }, ", sessions"));
    const begin = button("+", () => page.post({ kind: "newSession" }), { class: "new", title: "New Session", "aria-label": "New Session" });
    this.element = h("header", {}, h("div", { class: "bar" }, h("h1", {}, this.sessions), begin), this.notice);
    this.restart = button("Start Server", () => page.post({ kind: "run", what: "restart" }));
    this.fork = button("Fork Session", () => this.sessionId !== undefined && page.post({ kind: "session", action: "fork", sessionId: this.sessionId }));
  }

  draw(status: Status): void {
    setText(this.title, chatLine(status.title) || "New session");
    this.sessionId = status.sessionId;
    const words = status.server !== "running" ? SERVER[status.server] : status.readOnly === undefined ? "" : READ_ONLY[status.readOnly];
    this.notice.hidden = words === "";
    if (this.notice.dataset["words"] !== words) {
      this.notice.dataset["words"] = words;
      this.notice.replaceChildren(words, ...(status.server === "starting" ? [] : [status.server === "none" ? this.restart : this.fork]));
    }
  }
}

type Picker = keyof typeof PAGE_COMMANDS & ("model" | "agent" | "mode" | "approval");
const PICKERS: readonly Picker[] = ["model", "agent", "mode", "approval"];
const FULL = 85; // percent: about here, older messages are summarized
const NAMES: Readonly<Record<Picker, string>> = { model: "model", agent: "agent", mode: "mode", approval: "approval level" };

export class FooterPart {
  readonly element: HTMLElement;
  private readonly pickers = new Map<Picker, HTMLButtonElement>();
  private readonly context: HTMLButtonElement;
  private readonly meter = h("span", { class: "meter", "aria-hidden": "true" });
  private readonly fill = h("span", { class: "fill" });
  private readonly tokens = h("span");
  private readonly usage: HTMLButtonElement;
  private readonly hunks: HTMLButtonElement;

  constructor(page: Page) {
    for (const what of PICKERS) {
      this.pickers.set(what, button("", () => page.post({ kind: "run", what }), { class: "picker", hidden: true }));
    }
    this.usage = button("", () => page.post({ kind: "run", what: "usage" }), { class: "figure", title: "Usage", hidden: true });
    this.hunks = button("", () => page.post({ kind: "run", what: "review" }), { class: "figure", title: "Review", hidden: true });
    this.context = button("", () => page.post({ kind: "run", what: "context" }), { class: "figure context", hidden: true });
    this.meter.append(this.fill);
    this.context.append(this.meter, this.tokens);
    this.element = h("footer", { class: "status" }, ...this.pickers.values(), this.hunks, this.context, this.usage);
  }

  draw(status: Status): void {
    for (const [what, element] of this.pickers) {
      const value = chatLine(status[what]);
      setText(element, value === "" ? what : (value.split("/").at(-1) ?? value));
      setAttribute(element, "title", `${NAMES[what]}: ${value === "" ? "not set" : value}`);
      setAttribute(element, "aria-label", `Select the ${NAMES[what]}, currently ${value === "" ? "not set" : value}`);
      element.hidden = status.server !== "running" || (what === "agent" && value === "");
    }
    const cost = formatMoney(status.costUsd);
    setText(this.usage, cost);
    setAttribute(this.usage, "aria-label", `Session cost ${cost}: show usage`);
    this.usage.hidden = status.server !== "running" || cost === "" || status.costUsd === 0;
    setText(this.hunks, `${status.hunks} to review`);
    this.hunks.hidden = status.hunks === 0;
    this.drawContext(status);
  }

  private drawContext(status: Status): void {
    const context = contextMeter(status);
    this.context.hidden = context === undefined;
    if (context !== undefined) {
      setText(this.tokens, context.label);
      setAttribute(this.context, "title", `${context.words}. Show what the next request contains`);
      setAttribute(this.context, "aria-label", `${context.words}: show what the next request contains`);
      this.meter.hidden = context.share === undefined;
      setAttribute(this.context, "data-full", context.share !== undefined && context.share >= FULL);
      this.fill.style.width = `${context.share ?? 0}%`;
    }
  }
}
