/** What waits for the person: a row for each. None is answered by a click that was meant for something else. */

import type { InputRow, PermissionRow, ToHost } from "../messages";
import { h } from "./element";
import type { Answer, Page } from "./page";
import { permissionElement } from "./permission";
import { oneLine } from "./prose";
import { questionElement } from "./question";

const QUIET_MS = 500; // a click, or its second half, that was meant for what stood here before decides nothing

/** What a row gets to work with. */
export interface Asking {
  readonly page: Page;
  folders(): readonly string[];
  answer(message: Extract<ToHost, { kind: "permission" | "input" }>): void;
  /** What was typed and ticked for it before. */
  readonly typed: Answer;
  keep(typed: Answer): void;
}

interface Row {
  readonly shown: string;
  readonly element: HTMLElement;
}

export class WaitingPart {
  readonly element = h("section", { class: "waiting", "aria-label": "Waits for you", hidden: true });
  private readonly rows = new Map<string, Row>();
  private readonly answered = new Set<string>();
  private quietUntil = 0;
  private ending: ReturnType<typeof setTimeout> | undefined;

  /** @param lost typed for what does not wait any more */
  constructor(
    private readonly page: Page,
    private readonly folders: () => readonly string[],
    private readonly lost: (words: string) => void,
  ) {
    this.element.append(h("h2", {}, "Waits for you"));
    this.element.addEventListener("click", (event) => this.clicked(event), true);
  }

  /** Rows that are as they were stay. */
  show(permissions: readonly PermissionRow[], inputs: readonly InputRow[]): void {
    const now = new Set([...permissions, ...inputs].map(({ requestId }) => requestId));
    for (const requestId of now) {
      this.answered.delete(requestId); // that answer was not taken
    }
    const isNew = [...now].some((requestId) => !this.rows.has(requestId));
    for (const requestId of [...this.rows.keys(), ...Object.keys(this.page.kept.answers)]) {
      if (!now.has(requestId)) {
        this.forget(requestId);
      }
    }
    for (const each of permissions) {
      this.row(each.requestId, each.version, (asking) => permissionElement(asking, each));
    }
    for (const each of inputs) {
      this.row(each.requestId, "", (asking) => questionElement(asking, each));
    }
    this.element.hidden = now.size === 0;
    if (isNew) {
      const first = permissions[0]?.title ?? inputs[0]?.question ?? "";
      this.page.announce(`Tark waits for you: ${oneLine(first).slice(0, 150)}`);
    }
  }

  private row(requestId: string, shown: string, make: (asking: Asking) => HTMLElement): void {
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

  private asking(requestId: string): Asking {
    const { page, folders } = this;
    return {
      page,
      folders,
      answer: (message) => {
        this.answered.add(requestId);
        page.tell(message);
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
        document.getElementById("prompt")?.focus(); // not of who was typing: that would go on in the prompt
      }
    }
    if (!isAnswered && typed !== undefined && typed.words.trim() !== "") {
      this.lost(typed.words.trim());
    }
  }

  /** Something came, went or moved. */
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

/** Of the same request: what is unfolded, and where the focus is, stay. */
function replace(before: HTMLElement, after: HTMLElement): void {
  const [folded, unfolded] = [before, after].map((row) => [...row.querySelectorAll("details")]);
  unfolded!.forEach((each, index) => {
    each.open ||= folded![index]?.open === true;
  });
  const [were, are] = [before, after].map((row) => [...row.querySelectorAll<HTMLElement>("input, textarea, button, summary")]);
  const focused = were!.findIndex((each) => each === document.activeElement);
  before.replaceWith(after);
  are![focused]?.focus();
}
