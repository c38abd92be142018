/** The messages of the extension above the prompt: one line for each, visible for a while. */

import { chatLine } from "../../text/surfaces";
import { h } from "./element";

const SAID_MS = 10_000;

export class AlertPart {
  readonly element = h("div", { class: "alert", role: "alert" });

  say(words: string): void {
    const line = h("p", {}, chatLine(words));
    const same = [...this.element.children].find(({ textContent }) => textContent === line.textContent);
    same?.remove();
    this.element.append(line);
    setTimeout(() => line.remove(), SAID_MS);
  }

  /** Call this when the user has moved on. */
  clear(): void {
    this.element.replaceChildren();
  }
}
