/** Draws a pending permission request: all of it, and its answers. */

import type { PermissionRow, Reply } from "../messages";
import { diffElement } from "./diff";
import { button, h } from "./element";
import { documentText, plainLine } from "../../text/surfaces";
import type { RequestContext } from "./requestContext";
import { RISKS } from "../../text/permissionWords";
import { grantWords } from "./wording";

export function permissionElement(asking: RequestContext, request: PermissionRow): HTMLElement {
  const { requestId, version, command, grants } = request;
  const answer = (reply: Reply) => () => asking.answer({ kind: "permission", version, reply });
  const risk = RISKS[request.risk] ?? plainLine(request.risk);
  return h(
    "div",
    { class: "row permission", role: "group", "aria-label": `Permission: ${plainLine(request.title)}`, "data-risk": request.risk },
    h("h3", {}, command === undefined ? plainLine(request.title) : "Run a command"),
    h("p", { class: "why" }, h("strong", { class: "risk" }, risk), `, asked because ${plainLine(request.why)}`),
    ...subject(asking, request),
    h(
      "div",
      { class: "buttons" },
      button("Allow", answer({ outcome: "allow" }), { class: "main" }),
      button("Reject", answer({ outcome: "reject" })),
      button("Show", () => asking.page.post({ kind: "showPermission", requestId }), { title: "Show the whole request in an editor" }),
    ),
    h(
      "details",
      { class: "more", open: asking.typed.words !== "" },
      h("summary", {}, "Other answers"),
      h(
        "div",
        { class: "buttons" },
        ...grants.map(({ id, covers }) => button(grantWords(request, covers), answer({ outcome: "allow", grant: id }))),
        button("Cancel turn", answer({ outcome: "cancelled" })),
      ),
      because(asking, (reason) => answer({ outcome: "reject", ...(reason !== "" && { reason }) })()),
    ),
  );
}

function because(asking: RequestContext, reject: (reason: string) => void): HTMLElement {
  const reason = h("input", { type: "text", "aria-label": "Reason for rejecting, sent to the model", placeholder: "Reason" });
  reason.value = asking.typed.words;
  reason.addEventListener("input", () => asking.keep({ words: reason.value, ticks: [] }));
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing && reason.value.trim() !== "") {
      reject(reason.value.trim());
    }
  });
  return h("div", { class: "buttons reject" }, reason, button("Reject with reason", () => reject(reason.value.trim())));
}

/** The whole command or diff. */
function subject(asking: RequestContext, { command, edits }: PermissionRow): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (command !== undefined) {
    const by = (command.argv.at(-1) === command.text ? command.argv.slice(0, -1) : command.argv).join(" "); // the shell
    const how = [...(by === "" ? [] : [`by ${by}`]), ...(command.env.length === 0 ? [] : [`with ${command.env.join(" ")}`])];
    parts.push(
      h("pre", { class: "command", tabindex: 0, role: "group", "aria-label": "Command" }, documentText(command.text)),
      h("p", { class: "faint" }, plainLine(`in ${command.cwd}`)),
      ...(how.length === 0 ? [] : [h("details", { class: "how faint" }, h("summary", {}, h("span", { class: "title" }, plainLine(how.join(" ")))))]),
    );
  }
  return [...parts, ...(edits ?? []).map((diff) => diffElement(asking.page, diff, asking.folders()))];
}
