/** A link in the chat. It has no href: a click sends a message to the extension, which checks the target. */

import { h } from "./element";
import type { Page } from "./page";
import type { Target } from "./references";
import { chatProse } from "../../text/surfaces";

/** `shown`: the target as a tooltip, since the text of the link can say something else. */
export function linkElement(page: Page, to: Target, shown: string): HTMLElement {
  const link = h("a", { role: "link", tabindex: 0, title: chatProse(shown) });
  const follow = (): void => {
    page.post("url" in to ? { kind: "browse", url: to.url } : { kind: "open", ...locationOf(to) });
  };
  link.addEventListener("click", (event) => {
    event.preventDefault();
    follow();
  });
  link.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      follow();
    }
  });
  return link;
}

function locationOf(to: Exclude<Target, { url: string }>): { path: string; first?: number; last?: number } {
  const { path, first, last } = to;
  return { path, ...(first !== undefined && { first }), ...(last !== undefined && { last }) };
}
