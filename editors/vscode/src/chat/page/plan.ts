/** The plan of a turn as a list: in the turn, and above the prompt while the turn runs. */

import { chatLine } from "../../text/surfaces";
import type { TurnHead } from "../messages";
import { h } from "./element";

const SIGNS: Readonly<Record<string, string>> = { completed: "☑", in_progress: "◐" };
const WORDS: Readonly<Record<string, string>> = { completed: "done", in_progress: "in progress" };

export function drawPlan(list: HTMLElement, plan: TurnHead["plan"]): void {
  list.hidden = plan === undefined;
  list.replaceChildren(
    ...(plan ?? []).map(({ content, status }) =>
      h(
        "li",
        { "data-status": status },
        h("span", { "aria-hidden": "true" }, `${SIGNS[status] ?? "☐"} `),
        ...withCode(chatLine(content)),
        h("span", { class: "unseen" }, ` ${WORDS[status] ?? "to do"}`),
      ),
    ),
  );
}

/** Text between backticks is code, as in answers. The rest of Markdown is shown as it is. */
function withCode(words: string): (Node | string)[] {
  return words.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part));
}

/** The plan of the running turn. */
export class StickyPlan {
  readonly element = h("ul", { class: "plan sticky-plan", "aria-label": "Plan", tabindex: 0, hidden: true });
  private shown: TurnHead["plan"];

  draw(heads: readonly TurnHead[]): void {
    const plan = heads.findLast(({ state }) => state === "running")?.plan;
    if (plan !== this.shown) {
      this.shown = plan;
      drawPlan(this.element, plan);
    }
  }
}
