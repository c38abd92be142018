/** A link of the chat. It has no address of its own: it tells the extension, which looks where it leads. */

import { h } from "./element";
import type { Page } from "./page";
import { prose } from "./prose";
import type { Target } from "./references";

/** `shown`: where it leads, for people, since its words may say something else. */
export function linked(page: Page, to: Target, shown: string): HTMLElement {
  const link = h("a", { role: "link", tabindex: 0, title: prose(shown) });
  const follow = (): void => {
    page.tell("url" in to ? { kind: "browse", url: to.url } : { kind: "open", ...place(to) });
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

function place(to: Exclude<Target, { url: string }>): { path: string; first?: number; last?: number } {
  const { path, first, last } = to;
  return { path, ...(first !== undefined && { first }), ...(last !== undefined && { last }) };
}
