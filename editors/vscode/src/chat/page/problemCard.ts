/** Draws what went wrong in a turn: a sentence, the buttons that help, and the server's message behind "Details". */

import { REMEDY_LABELS, type Remedy } from "../../model/turnProblems";
import { chatProse, plainLine } from "../../text/surfaces";
import type { TurnHead } from "../messages";
import { button, h, setText } from "./element";
import type { Page } from "./page";
import { problemOf } from "./wording";

const TICK_MS = 250;
const LONGEST_WAIT_S = 600; // a longer wait is not for this chat

export function problemCard(page: Page, head: TurnHead): HTMLElement | undefined {
  const problem = problemOf(head);
  if (head.state !== "ended" || problem === undefined) {
    return undefined;
  }
  const sentence = plainLine(problem.sentence);
  const buttons = problem.remedies.map((remedy, index) => remedyButton(page, head, remedy, index === 0));
  const wait = problem.remedies.includes("again") && head.retry !== undefined ? [waitButton(page, head)] : [];
  return h(
    "div",
    { class: `card${head.error === undefined || head.key?.result === "accepted" ? "" : " error"}`, role: "group", "aria-label": sentence },
    h("p", { class: "sentence" }, sentence),
    h("div", { class: "buttons" }, ...buttons.slice(0, 1), ...wait, ...buttons.slice(1)),
    ...details(head),
  );
}

function remedyButton(page: Page, { turnId, worked, model }: TurnHead, remedy: Remedy, isMain: boolean): HTMLElement {
  const does = (): void => {
    if (remedy === "again" || remedy === "continue") {
      page.post({ kind: "again", turnId, how: remedy === "continue" || worked === true ? "continue" : "retry" });
    } else {
      const provider = remedy === "setKey" && model?.includes("/") === true ? model.split("/", 1)[0] : undefined;
      page.post({ kind: "remedy", turnId, remedy, ...(provider !== undefined && { provider }) });
    }
  };
  const words = remedy === "again" && worked === true ? REMEDY_LABELS.continue : REMEDY_LABELS[remedy];
  return button(words, does, isMain ? { class: "main" } : {});
}

/** A button with a countdown. If it is pressed, the turn is tried again at 0. If it is pressed again, it is not. */
function waitButton(page: Page, { turnId, retry }: TurnHead): HTMLElement {
  const { at, waits } = retry!;
  const title = waits ? "Do not try again by itself" : "Try again as soon as the provider allows it";
  const element = button("", () => page.post({ kind: "wait", turnId }), { title, "aria-pressed": String(waits) });
  const left = (): number => Math.ceil((at - Date.now()) / 1000);
  const draw = (): void => {
    setText(element, waits ? `Retrying in ${clock(left())}: Cancel` : `Wait ${clock(left())}`);
    element.hidden = left() <= 0 || left() > LONGEST_WAIT_S;
  };
  draw();
  const ticking = setInterval(() => {
    draw();
    if (left() <= 0) {
      clearInterval(ticking);
    }
  }, TICK_MS);
  return element;
}

function clock(seconds: number): string {
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
}

/** The server's message about the key that was set, else about the error. */
function details({ error, key }: TurnHead): HTMLElement[] {
  const { message, hint } = key === undefined ? { message: "", hint: "", ...error } : { message: key.message, hint: "" };
  if (message === "" && hint === "") {
    return [];
  }
  return [
    h(
      "details",
      { class: "more" },
      h("summary", {}, h("span", { class: "title" }, "Details")),
      h("p", { class: "plain" }, chatProse(message)),
      ...(hint ? [h("p", { class: "plain hint" }, chatProse(hint))] : []),
    ),
  ];
}
