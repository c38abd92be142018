/** The list of sessions: open, rename, fork, export and delete them. */

import { type SessionAction, UNTITLED } from "../../model/sessionRow";
import type { SessionRow } from "../messages";
import { button, h } from "./element";
import type { Page } from "./page";
import { chatLine } from "../../text/surfaces";

const ACTIONS: readonly (readonly [action: SessionAction, words: string])[] = [
  ["rename", "Rename"],
  ["fork", "Fork"],
  ["export", "Export"],
  ["delete", "Delete"],
];

export class SessionsPart {
  readonly element = h("nav", { class: "sessions", id: "sessions", "aria-label": "Sessions", hidden: true });
  private readonly list = h("ul");
  private readonly others = button("Show Sessions of All Workspaces", () => this.requestSessions(true), { class: "others", hidden: true });
  private readonly none = h("p", { class: "faint" }, "There are no sessions yet.");

  constructor(
    private readonly page: Page,
    private readonly opener: HTMLElement,
  ) {
    this.element.append(this.none, this.list, this.others);
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        this.toggle(false);
        opener.focus();
      }
    });
  }

  toggle(open = this.element.hidden): void {
    this.element.hidden = !open;
    this.opener.setAttribute("aria-expanded", String(open));
    if (open) {
      this.requestSessions(false);
    }
  }

  private requestSessions(all: boolean): void {
    this.page.post({ kind: "sessions", all });
  }

  showRows(rows: readonly SessionRow[], all: boolean): void {
    const focused = this.list.contains(document.activeElement) ? document.activeElement?.id : undefined;
    this.none.hidden = rows.length > 0;
    this.others.hidden = all;
    this.list.replaceChildren(...rows.map((row) => this.row(row)));
    if (focused !== undefined) {
      (document.getElementById(focused) ?? this.opener).focus();
    }
  }

  private row({ sessionId, title, figures, current }: SessionRow): HTMLElement {
    const name = chatLine(title) || UNTITLED;
    const act = (action: SessionAction) => () => {
      this.page.post({ kind: "session", action, sessionId });
      if (action === "open") {
        this.toggle(false);
      }
    };
    return h(
      "li",
      { "aria-current": current ? "true" : undefined },
      button(name, act("open"), { class: "open", id: `open-${sessionId}` }),
      h("div", { class: "faint" }, chatLine(figures)),
      h("div", { class: "actions" }, ...ACTIONS.map(([action, words]) => button(words, act(action), { id: `${action}-${sessionId}`, "aria-label": `${words} ${name}` }))),
    );
  }
}
