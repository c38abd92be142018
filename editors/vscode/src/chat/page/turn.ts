/** Draws a turn: the prompt, the blocks of the answer, the plan, and how it ended. */

import type { ReplacedTurn } from "../messages";
import { newBlock, type DrawnBlock, type BlockContext } from "./blocks";
import { button, h, setAttribute } from "./element";
import { MarkdownView } from "./markdown";
import { grows, keyOf, type Stale, type TurnModel } from "./model";
import { keepOpened, type Page } from "./page";
import { endingWords, fileName } from "./wording";
import { chatLine, chatProse } from "../../text/surfaces";

const LONG_PROMPT = 20; // lines; a longer prompt is folded
const PLAN_SIGNS: Readonly<Record<string, string>> = { completed: "☑", in_progress: "◐" };
const PLAN_WORDS: Readonly<Record<string, string>> = { completed: "done", in_progress: "in progress" };

/** Kinds that start with a prompt alone. Others are about a place in a file, which an edited prompt would lack. */
const EDITED = new Set(["agent", "ask"]);

export type Edit = (turn: Omit<ReplacedTurn, "sessionId">, words: string) => void;

export class TurnView {
  readonly element = h("article", { class: "turn" });
  private readonly prompt: MarkdownView;
  private readonly shownPrompt: HTMLElement;
  private readonly actions = h("span", { class: "actions" });
  private readonly place = h("span", { class: "place" });
  private readonly answer = h("div", { class: "answer", hidden: true });
  private readonly blocks = h("div", { class: "blocks" });
  private readonly plan = h("ul", { class: "plan", "aria-label": "Plan", hidden: true });
  private readonly foot = h("footer", { class: "faint" });
  private readonly error = h("div", { class: "notice error", hidden: true });
  private readonly drawn: DrawnBlock[] = [];

  constructor(
    private readonly page: Page,
    private readonly turn: TurnModel,
    private readonly folders: BlockContext["folders"],
    private readonly edit: Edit,
  ) {
    this.prompt = new MarkdownView(page);
    this.shownPrompt = h("div", { class: "prompt" }, this.prompt.element);
    this.answer.append(h("h2", {}, "Tark"), this.blocks, this.plan);
    this.element.append(
      h("div", { class: "turn-head" }, h("h2", {}, "You"), this.place, this.actions),
      this.shownPrompt,
      this.answer,
      this.error,
      this.foot,
    );
    this.drawHead();
    turn.blocks.forEach((_, index) => this.drawBlock(index));
  }

  draw(stale: Stale): void {
    if (stale.has("head")) {
      this.drawHead();
    }
    const indexes = [...stale].filter((part) => part !== "head");
    for (const index of indexes.sort((one, other) => one - other)) {
      this.drawBlock(index); // in order, since new blocks are appended
    }
  }

  private drawHead(): void {
    const { head } = this.turn;
    setAttribute(this.element, "data-state", head.state);
    setAttribute(this.element, "aria-label", `You: ${chatLine(head.prompt).slice(0, 80)}`);
    this.drawPrompt(head.prompt === "" ? `(${head.turnKind ?? "no prompt"})` : head.prompt);
    this.drawPlace();
    this.drawActions();
    this.answer.hidden = head.state !== "running" && this.turn.blocks.length === 0;
    this.plan.hidden = head.plan === undefined;
    this.plan.replaceChildren(
      ...(head.plan ?? []).map(({ content, status }) =>
        h(
          "li",
          { "data-status": status },
          h("span", { "aria-hidden": "true" }, `${PLAN_SIGNS[status] ?? "☐"} `),
          chatLine(content),
          h("span", { class: "unseen" }, ` ${PLAN_WORDS[status] ?? "to do"}`),
        ),
      ),
    );
    this.error.hidden = head.error === undefined;
    this.error.replaceChildren(
      ...(head.error ? [chatProse(head.error.message), ...(head.error.hint ? [h("p", { class: "hint" }, chatProse(head.error.hint))] : [])] : []),
    );
    this.foot.replaceChildren(endingWords(head));
    if (head.changed !== undefined) {
      this.foot.append(h("div", {}, "Changed by commands, which cannot be undone: ", ...head.changed.map((uri) => this.file(uri))));
    }
  }

  /** The file and the lines that the turn is about. */
  private drawPlace(): void {
    const { place } = this.turn.head;
    if (place !== undefined && this.place.childElementCount === 0) {
      const lines = place.first === place.last ? `${place.first + 1}` : `${place.first + 1}-${place.last + 1}`;
      const name = fileName(place.uri, this.folders());
      const open = (): void => this.page.post({ kind: "openUri", uri: place.uri, line: place.first });
      this.place.append(button(`${name.split("/").at(-1) ?? name}:${lines}`, open, { class: "file", title: `Open ${name}:${lines}` }));
    }
  }

  private file(uri: string): HTMLElement {
    const name = fileName(uri, this.folders());
    return button(name, () => this.page.post({ kind: "openUri", uri }), { class: "file", title: `Open ${name}` });
  }

  private drawPrompt(words: string): void {
    this.prompt.draw(words, true);
    const key = `${this.turn.head.turnId}/prompt`;
    const isLong = words.split("\n").length > LONG_PROMPT && this.page.kept.opened[key] !== true;
    if (isLong && !this.shownPrompt.classList.contains("cut")) {
      const all = button("Show all", () => {
        keepOpened(this.page, key, true);
        this.shownPrompt.classList.remove("cut");
        all.remove();
      });
      this.shownPrompt.classList.add("cut");
      this.shownPrompt.after(all);
    }
  }

  /** Draws the buttons of the prompt. */
  private drawActions(): void {
    const { state, turnId, turnKind, undoable } = this.turn.head;
    if (this.actions.dataset["state"] === state) {
      return; // so that a focused button stays
    }
    this.actions.dataset["state"] = state;
    const edit = (): void => this.edit({ turnId, ...(turnKind !== undefined && { turnKind }) }, this.turn.head.prompt);
    const cancel = (): void => this.page.post({ kind: "cancel", turnId });
    const undo = (): void => this.page.post({ kind: "undo", turnId });
    this.actions.replaceChildren(
      ...(state === "ended" && undoable === true
        ? [button("Undo", undo, { "aria-label": "Undo the changes of this turn", title: "Undo the changes of this turn" })]
        : []),
      ...((state === "running" || state === "ended") && EDITED.has(turnKind ?? "agent")
        ? [button("Edit", edit, { "aria-label": "Edit this prompt and send it in a new session", title: "Edit and send again" })]
        : []),
      ...(state === "queued" ? [button("Cancel", cancel, { "aria-label": "Cancel this queued prompt" })] : []),
    );
  }

  private drawBlock(index: number): void {
    const block = this.turn.blocks[index];
    if (block === undefined) {
      return;
    }
    this.answer.hidden = false;
    let drawn = this.drawn[index];
    if (drawn === undefined) {
      drawn = newBlock(this.page, { key: keyOf(this.turn, index), folders: this.folders }, block);
      this.drawn[index] = drawn;
      this.blocks.append(drawn.element);
    }
    drawn.draw(block, grows(this.turn, index));
  }
}
