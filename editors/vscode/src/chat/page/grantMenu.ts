/** The menu beside *Allow*: what else can be allowed together with the request, from narrow to wide. */

import type { PermissionRow } from "../messages";
import { button, h } from "./element";
import { grantWords } from "./wording";

/** @param allow answers with the grant of this id */
export function grantMenu(request: PermissionRow, allow: (grant: string) => void): HTMLElement[] {
  if (request.grants.length === 0) {
    return [];
  }
  const name = "Allow for Longer";
  const choices = request.grants.map(({ id, covers }) => button(grantWords(request, covers), () => allow(id)));
  const summary = h("summary", { title: name, "aria-label": name }, "▾");
  const menu = h("details", { class: "grants" }, summary, h("div", { class: "menu" }, ...choices));
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      event.stopPropagation();
      menu.open = false;
      summary.focus();
    }
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) {
      menu.open = false;
    }
  });
  return [menu];
}
