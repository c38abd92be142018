/** The card of an empty chat in which something has to be set up first. */

import type { SetupOffer, SetupView } from "../../model/setup";
import { chatProse, plainLine } from "../../text/surfaces";
import { button, h, setAttribute } from "./element";
import type { Page } from "./page";

export class SetupPart {
  readonly element = h("section", { class: "setup", "aria-label": "Set up Tark", hidden: true });
  private shown = "";
  private view: SetupView | null = null;
  private isEmpty = true;
  private prompts = 0;

  /** @param onShown whether the card is visible now */
  constructor(
    private readonly page: Page,
    private readonly onShown: (visible: boolean) => void,
  ) {}

  /** Null: nothing has to be set up. */
  show(view: SetupView | null): void {
    this.view = view;
    this.draw();
  }

  /** `isEmpty`: does the chat have no turns? `prompts`: how many wait to be sent. */
  setChat(isEmpty: boolean, prompts: number): void {
    this.isEmpty = isEmpty;
    this.prompts = prompts;
    this.draw();
  }

  private draw(): void {
    const view = this.isEmpty ? this.view : null;
    const shown = JSON.stringify([view, this.prompts > 0]);
    if (this.shown === shown) {
      return;
    }
    this.shown = shown;
    const isNew = this.element.hidden;
    this.element.hidden = view === null;
    document.body.classList.toggle("no-server", view?.isProblem === true);
    const focused = (document.activeElement as HTMLElement | null)?.dataset["offer"];
    this.element.replaceChildren(...(view === null ? [] : [this.card(view)]));
    if (focused !== undefined) {
      this.element.querySelector<HTMLElement>(`[data-offer="${CSS.escape(focused)}"]`)?.focus();
    }
    if (isNew && view !== null) {
      this.page.announce(`${view.title}. ${view.words}`);
    }
    this.onShown(view !== null);
  }

  private card({ title, words, said, busy, offers }: SetupView): HTMLElement {
    return h(
      "div",
      { class: "card" },
      h("h2", {}, title),
      h("p", {}, words),
      ...(said === undefined ? [] : this.said(said)),
      ...(busy === undefined ? [] : [h("p", { class: "busy" }, plainLine(busy))]),
      h("ul", {}, ...offers.map((offer, index) => this.row(offer, index === 0, busy !== undefined))),
      ...(this.prompts === 0 ? [] : [this.waitingPrompt()]),
    );
  }

  private said({ words, details }: NonNullable<SetupView["said"]>): HTMLElement[] {
    return [
      ...(words === "" ? [] : [h("p", { class: "said" }, plainLine(words))]),
      ...(details === "" ? [] : [h("details", {}, h("summary", {}, h("span", { class: "title" }, "Details")), h("p", { class: "plain" }, chatProse(details)))]),
    ];
  }

  private row({ id, label, note }: SetupOffer, isMain: boolean, isBusy: boolean): HTMLElement {
    const choose = button(plainLine(label), () => this.page.post({ kind: "setup", offer: id }), { class: isMain ? "main" : "", "data-offer": id });
    setAttribute(choose, "disabled", isBusy);
    return h("li", { class: "buttons" }, choose, ...(note === undefined ? [] : [h("span", { class: "faint" }, plainLine(note))]));
  }

  private waitingPrompt(): HTMLElement {
    const back = button("Edit", () => this.page.post({ kind: "setup", offer: "takeBack" }), { "aria-label": "Edit the prompt that waits" });
    return h("p", { class: "waits faint" }, "Your prompt is sent as soon as a model is set up. ", back);
  }
}
