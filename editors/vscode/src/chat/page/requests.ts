/** The pending requests, one row each. A click that was meant for something else does not answer them. */

import type { InputRow, PermissionRow } from "../messages";
import { h, setText } from "./element";
import type { Page } from "./page";
import { permissionElement } from "./permission";
import { questionElement } from "./question";
import type { RequestContext } from "./requestContext";
import { chatLine } from "../../text/surfaces";

const QUIET_MS = 500; // clicks this soon after a change are ignored

interface Row {
  readonly shown: string;
  readonly element: HTMLElement;
}

export class RequestsPart {
  readonly element = h("section", { class: "waiting", "aria-label": "Waiting for you", hidden: true });
  /** Only the first request is visible. */
  private readonly count = h("h2", { hidden: true });
  private readonly rows = new Map<string, Row>();
  private readonly answered = new Set<string>();
  private quietUntil = 0;
  private ending: ReturnType<typeof setTimeout> | undefined;

  /** @param lost receives the text typed for a request that has ended */
  constructor(
    private readonly page: Page,
    private readonly folders: () => readonly string[],
    private readonly lost: (words: string) => void,
  ) {
    this.element.append(this.count);
    this.element.addEventListener("click", (event) => this.clicked(event), true);
  }

  /** Keeps the rows that have not changed. */
  showRequests(permissions: readonly PermissionRow[], inputs: readonly InputRow[]): void {
    const now = new Set([...permissions, ...inputs].map(({ requestId }) => requestId));
    for (const requestId of now) {
      this.answered.delete(requestId); // the answer was not accepted
    }
    const isNew = [...now].some((requestId) => !this.rows.has(requestId));
    for (const requestId of [...this.rows.keys(), ...Object.keys(this.page.kept.answers)]) {
      if (!now.has(requestId)) {
        this.forget(requestId);
      }
    }
    for (const request of permissions) {
      this.row(request.requestId, request.version, (asking) => permissionElement(asking, request));
    }
    for (const request of inputs) {
      this.row(request.requestId, "", (asking) => questionElement(asking, request));
    }
    this.element.hidden = now.size === 0;
    this.count.hidden = now.size < 2;
    setText(this.count, now.size < 2 ? "" : `Waiting for you: 1 of ${String(now.size)}`);
    if (isNew) {
      const first = permissions[0]?.title ?? inputs[0]?.question ?? "";
      this.page.announce(`Tark is waiting for you: ${chatLine(first).slice(0, 150)}`);
    }
  }

  private row(requestId: string, shown: string, make: (asking: RequestContext) => HTMLElement): void {
    const before = this.rows.get(requestId);
    if (before?.shown === shown) {
      return;
    }
    const element = make(this.asking(requestId));
    this.rows.set(requestId, { shown, element });
    if (before === undefined) {
      this.element.append(element);
    } else {
      replace(before.element, element);
    }
    this.quiet();
  }

  private asking(requestId: string): RequestContext {
    const { page, folders } = this;
    return {
      page,
      folders,
      answer: (message) => {
        this.answered.add(requestId);
        page.post(message);
      },
      typed: page.kept.answers[requestId] ?? { words: "", ticks: [] },
      keep: (typed) => {
        this.answered.delete(requestId);
        page.kept.answers[requestId] = typed;
        page.keep();
      },
    };
  }

  private forget(requestId: string): void {
    const { kept } = this.page;
    const { [requestId]: typed, ...others } = kept.answers;
    kept.answers = others;
    this.page.keep();
    const row = this.rows.get(requestId)?.element;
    const isAnswered = this.answered.delete(requestId);
    if (row !== undefined) {
      const hadFocus = row.contains(document.activeElement);
      row.remove();
      this.rows.delete(requestId);
      this.quiet();
      if (hadFocus && isAnswered) {
        document.getElementById("prompt")?.focus(); // not while the user is typing, because the keys would go to the prompt
      }
    }
    if (!isAnswered && typed !== undefined && typed.words.trim() !== "") {
      this.lost(typed.words.trim());
    }
  }

  /** A row was added, removed or moved. */
  private quiet(): void {
    this.quietUntil = performance.now() + QUIET_MS;
    this.element.classList.add("quiet");
    clearTimeout(this.ending);
    this.ending = setTimeout(() => this.element.classList.remove("quiet"), QUIET_MS);
  }

  private clicked(event: MouseEvent): void {
    if ((event.target as Element).closest("button") && (event.detail > 1 || performance.now() < this.quietUntil)) {
      event.stopPropagation();
    }
  }
}

/** Replaces the row of the same request. Open details and the focus stay. */
function replace(before: HTMLElement, after: HTMLElement): void {
  const [folded, unfolded] = [before, after].map((row) => [...row.querySelectorAll("details")]);
  unfolded!.forEach((details, index) => {
    details.open ||= folded![index]?.open === true;
  });
  const [were, are] = [before, after].map((row) => [...row.querySelectorAll<HTMLElement>("input, textarea, button, summary")]);
  const focused = were!.findIndex((element) => element === document.activeElement);
  before.replaceWith(after);
  are![focused]?.focus();
}
