/** The card in an empty chat that shows what has to be set up first. */

import type { SetupOffer, SetupView } from "../../model/setup";
import { chatProse, plainExcerpt, plainLine } from "../../text/surfaces";
import { button, h, setAttribute } from "./element";
import type { Page } from "./page";

const LONGEST_PROMPT = 120; // characters

export class SetupPart {
  readonly element = h("section", { class: "setup", "aria-label": "Set up Tark", hidden: true });
  private shown = "";
  private view: SetupView | null = null;
  private isEmpty = true;
  private prompt = "";
  private announced = "";

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

  /** `isEmpty`: does the chat have no turns? `prompt`: the first one that waits to be sent, else "". */
  setChat(isEmpty: boolean, prompt: string): void {
    this.isEmpty = isEmpty;
    this.prompt = prompt;
    this.draw();
  }

  private draw(): void {
    const view = this.isEmpty ? this.view : null;
    const shown = JSON.stringify([view, this.prompt]);
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
    if (view === null) {
      this.page.withdraw(this.announced);
    } else if (isNew) {
      this.announced = `${view.title}. ${view.words}`;
      this.page.announce(this.announced);
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
      ...(this.prompt === "" ? [] : [this.waitingPrompt()]),
    );
  }

  private said({ words, details }: NonNullable<SetupView["said"]>): HTMLElement[] {
    return [
      ...(words === "" ? [] : [h("p", { class: "said" }, plainLine(words))]),
      ...(details === "" ? [] : [h("details", {}, h("summary", {}, h("span", { class: "title" }, "Details")), h("p", { class: "plain" }, chatProse(details)))]),
    ];
  }

  private row({ id, label, note, isLink }: SetupOffer, isMain: boolean, isBusy: boolean): HTMLElement {
    const looks = isLink === true ? "link" : isMain ? "main" : "";
    const choose = button(plainLine(label), () => this.page.post({ kind: "setup", offer: id }), { class: looks, "data-offer": id });
    setAttribute(choose, "disabled", isBusy);
    return h("li", isLink === true ? {} : { class: "buttons" }, choose, ...(note === undefined ? [] : [h("p", { class: "faint" }, plainLine(note))]));
  }

  private waitingPrompt(): HTMLElement {
    const back = button("Edit", () => this.page.post({ kind: "setup", offer: "takeBack" }), { "aria-label": "Edit the prompt that waits" });
    const words = plainExcerpt(this.prompt, LONGEST_PROMPT);
    return h("p", { class: "waits" }, h("span", { class: "faint" }, "Sent as soon as a model is set up: "), `“${words}” `, back);
  }
}
