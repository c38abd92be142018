/** Draws a turn: the prompt, the blocks of the answer, the plan, and how it ended. */

import type { ReplacedTurn } from "../messages";
import { newBlock, type DrawnBlock, type BlockContext } from "./blocks";
import { CallGroup } from "./callGroup";
import { isRead } from "./callRow";
import { button, h, setAttribute } from "./element";
import { MarkdownView } from "./markdown";
import { grows, keyOf, type Stale, type TurnModel } from "./model";
import { keepOpened, type Page } from "./page";
import { drawPlan } from "./plan";
import { problemCard } from "./problemCard";
import { actionsKey, endButtons, promptButtons } from "./turnActions";
import { endingWords, fileName } from "./wording";
import { chatLine } from "../../text/surfaces";

const LONG_PROMPT = 20; // lines; a longer prompt is folded

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
  private readonly end = h("div", { class: "turn-end" });
  private readonly problem = h("div", { class: "problem" });
  private readonly drawn: DrawnBlock[] = [];
  private readonly groups: CallGroup[] = []; // by the index of a call in it

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
      this.problem,
      this.foot,
      this.end,
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
    drawPlan(this.plan, head.state === "running" ? undefined : head.plan); // while it runs, it is above the prompt
    this.drawProblem();
    this.foot.replaceChildren(endingWords(head));
    if (head.changed !== undefined) {
      this.foot.append(h("div", {}, "Changed by commands: ", ...head.changed.map((uri) => this.file(uri))));
    }
  }

  /** Redrawn only if it changes, so that a focused button and open details stay. */
  private drawProblem(): void {
    const { head } = this.turn;
    const shown = JSON.stringify([head.state, head.stopReason, head.error, head.retry, head.key]);
    if (this.problem.dataset["shown"] !== shown) {
      this.problem.dataset["shown"] = shown;
      const card = problemCard(this.page, head);
      this.problem.replaceChildren(...(card === undefined ? [] : [card]));
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
      const all = button("Show All", () => {
        keepOpened(this.page, key, true);
        this.shownPrompt.classList.remove("cut");
        all.remove();
      });
      this.shownPrompt.classList.add("cut");
      this.shownPrompt.after(all);
    }
  }

  private drawActions(): void {
    const { head } = this.turn;
    const key = actionsKey(head);
    if (this.actions.dataset["key"] === key) {
      return; // so that a focused button stays
    }
    this.actions.dataset["key"] = key;
    const { turnId, turnKind } = head;
    const edit = (): void => this.edit({ turnId, ...(turnKind !== undefined && { turnKind }) }, this.turn.head.prompt);
    this.actions.replaceChildren(...promptButtons(this.page, head, edit));
    this.end.replaceChildren(...endButtons(this.page, head));
  }

  /** Adds the element of a new block. A read-only call joins a read-only call before it. */
  private addElement(index: number, element: HTMLElement): void {
    const [before, block] = [this.turn.blocks[index - 1], this.turn.blocks[index]];
    const first = this.drawn[index - 1]?.element;
    if (block?.kind !== "toolCall" || before?.kind !== "toolCall" || first === undefined || !isRead(block) || !isRead(before)) {
      this.blocks.append(element);
      return;
    }
    let group = this.groups[index - 1];
    if (group === undefined) {
      group = new CallGroup(this.page, `${keyOf(this.turn, index - 1)}/reads`, this.folders, first);
      group.drawCall(index - 1, before);
      this.groups[index - 1] = group;
    }
    group.addElement(element);
    this.groups[index] = group;
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
      this.addElement(index, drawn.element);
    }
    drawn.draw(block, grows(this.turn, index));
    if (block.kind === "toolCall") {
      this.groups[index]?.drawCall(index, block);
    }
  }
}
