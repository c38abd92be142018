/** What stands around the transcript: the session's name above it; model, mode, approval, context and cost below it. */

import { money } from "../../text/figures";
import type { RUNS, Status } from "../messages";
import { button, h, say, set } from "./element";
import type { Page } from "./page";
import { oneLine } from "./prose";
import { context } from "./words";

const SERVER = { none: "There is no server. ", starting: "The server starts…" };
const READ_ONLY = {
  held: "Another editor has this session, so it can only be read here. ",
  elsewhere: "This session is of another workspace, so it can only be read here. ",
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
    const begin = button("+", () => page.tell({ kind: "newSession" }), { class: "new", title: "New session", "aria-label": "New session" });
    this.element = h("header", {}, h("div", { class: "bar" }, h("h1", {}, this.sessions), begin), this.notice);
    this.restart = button("Start the server", () => page.tell({ kind: "run", what: "restart" }));
    this.fork = button("Fork it", () => this.sessionId !== undefined && page.tell({ kind: "session", action: "fork", sessionId: this.sessionId }));
  }

  draw(status: Status): void {
    say(this.title, oneLine(status.title) || "New session");
    this.sessionId = status.sessionId;
    const words = status.server !== "running" ? SERVER[status.server] : status.readOnly === undefined ? "" : READ_ONLY[status.readOnly];
    this.notice.hidden = words === "";
    if (this.notice.dataset["words"] !== words) {
      this.notice.dataset["words"] = words;
      this.notice.replaceChildren(words, ...(status.server === "starting" ? [] : [status.server === "none" ? this.restart : this.fork]));
    }
  }
}

type Picker = keyof typeof RUNS & ("model" | "mode" | "approval");
const PICKERS: readonly Picker[] = ["model", "mode", "approval"];

export class FooterPart {
  readonly element: HTMLElement;
  private readonly pickers = new Map<Picker, HTMLButtonElement>();
  private readonly meter = h("div", { class: "meter", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": "Context", hidden: true });
  private readonly fill = h("div", { class: "fill" });
  private readonly usage: HTMLButtonElement;
  private readonly hunks: HTMLButtonElement;

  constructor(page: Page) {
    for (const what of PICKERS) {
      this.pickers.set(what, button("", () => page.tell({ kind: "run", what }), { class: "picker", hidden: true }));
    }
    this.usage = button("", () => page.tell({ kind: "run", what: "usage" }), { class: "figure", title: "Usage", hidden: true });
    this.hunks = button("", () => page.tell({ kind: "run", what: "review" }), { class: "figure", title: "Review", hidden: true });
    this.meter.append(this.fill);
    this.element = h("footer", { class: "status" }, ...this.pickers.values(), this.hunks, this.usage, this.meter);
  }

  draw(status: Status): void {
    for (const [what, element] of this.pickers) {
      const value = oneLine(status[what]);
      say(element, value === "" ? what : (value.split("/").at(-1) ?? value));
      set(element, "title", `${what}: ${value === "" ? "not chosen" : value}`);
      set(element, "aria-label", `Choose the ${what}, now ${value === "" ? "none" : value}`);
      element.hidden = status.server !== "running";
    }
    const cost = money(status.costUsd);
    say(this.usage, cost);
    set(this.usage, "aria-label", `Cost of the session ${cost}: show usage`);
    this.usage.hidden = status.server !== "running" || cost === "" || status.costUsd === 0;
    say(this.hunks, `${status.hunks} to review`);
    this.hunks.hidden = status.hunks === 0;
    const full = context(status);
    this.meter.hidden = full === undefined;
    if (full !== undefined) {
      set(this.meter, "aria-valuenow", full.share);
      set(this.meter, "aria-valuetext", full.words);
      set(this.meter, "title", full.words);
      this.fill.style.width = `${full.share}%`;
    }
  }
}
