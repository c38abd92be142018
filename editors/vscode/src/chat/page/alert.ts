/** What the extension says above the prompt: a line for each message, each for a while. */

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

  /** The user has gone on. */
  clear(): void {
    this.element.replaceChildren();
  }
}
