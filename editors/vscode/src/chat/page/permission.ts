/** Draws a pending permission request: a text that scrolls, and buttons below it that are always visible. */

import type { Diff, PermissionRow, Reply } from "../messages";
import { diffElement } from "./diff";
import { button, h, setAttribute } from "./element";
import { grantMenu } from "./grantMenu";
import { documentText, plainLine } from "../../text/surfaces";
import { titleInWords } from "../../text/toolTitle";
import type { RequestContext } from "./requestContext";
import { answerKey } from "./requestKeys";
import { RISKS } from "../../text/permissionWords";
import { fileName } from "./wording";

export function permissionElement(asking: RequestContext, request: PermissionRow): HTMLElement {
  const { requestId, version, command } = request;
  const answer = (reply: Reply, wasSeen = false) => asking.answer({ kind: "permission", version, reply, ...(wasSeen && { wasSeen }) });
  const text = h("div", { class: "asked", tabindex: 0, role: "group", "aria-label": "What Tark asks for" });
  /** Allows the request once its end was seen. Before that, scrolls to the part that was not seen. */
  const allow = (how: Omit<Reply, "outcome"> = {}) => (): void => {
    if (seen.update()) {
      answer({ outcome: "allow", ...how }, true);
    } else {
      seen.showMore();
    }
  };
  const { isMac } = asking.page;
  const main = { class: "main", ...answerKey("Enter", isMac) };
  const rejecting = answerKey("Backspace", isMac);
  const allowing = request.isUnsaved === true
    ? [button("Save and Run", allow({ save: true }), main), button("Run Anyway", allow())]
    : [button("Allow", allow(), main)];
  const seen = new Seen(text, allowing, request.mustBeSeen === true);
  text.append(
    h("h3", { class: "must" }, command === undefined ? heading(request.title) : `Run a command${plainLine(command.beyond ?? "")}`),
    ...subject(asking, request),
    h("p", { class: `why faint${request.isUnsaved === true ? " must" : ""}` }, h("strong", { class: "risk" }, RISKS[request.risk] ?? plainLine(request.risk)), `, asked because ${plainLine(request.why)}`),
    ...howElement(request),
    h(
      "details",
      { class: "more", open: asking.typed.words !== "" },
      h("summary", {}, "Other Answers"),
      h(
        "div",
        { class: "buttons" },
        button("Cancel Turn", () => answer({ outcome: "cancelled" })),
      ),
      because(asking, (reason) => answer({ outcome: "reject", ...(reason !== "" && { reason }) })),
    ),
  );
  return h(
    "div",
    { class: "row permission", role: "group", "aria-label": `Permission: ${plainLine(titleInWords(request.title))}`, "data-risk": request.risk },
    text,
    h(
      "div",
      { class: "buttons" },
      ...allowing,
      ...grantMenu(request, (grant) => allow({ grant })()),
      button("Reject", () => answer({ outcome: "reject" }), { title: rejecting["data-keys"], ...rejecting }),
      button("Show", () => asking.page.post({ kind: "showPermission", requestId }), { title: "Show the whole request in an editor" }),
    ),
  );
}

/** Capitalizes `edit shop/prices.py`, like the headings of commands. Names of other tools stay as they are. */
function heading(title: string): string {
  return plainLine(titleInWords(title)).replace(/^(edit|move|delete) /, (verb) => verb.charAt(0).toUpperCase() + verb.slice(1));
}

/** Was the end of the text on screen? If the user must see all of it, its diffs must be open, too. */
class Seen {
  private atEnd = false;

  constructor(
    private readonly text: HTMLElement,
    private readonly allowing: readonly HTMLElement[],
    private readonly all: boolean,
  ) {
    this.draw();
    text.addEventListener("scroll", () => this.update(), { passive: true });
    text.addEventListener("toggle", () => requestAnimationFrame(() => this.update()), true);
    new ResizeObserver(() => this.update()).observe(text);
  }

  update(): boolean {
    const { scrollTop, clientHeight } = this.text;
    const isOpen = !this.all || this.text.querySelector("details.change:not([open]), button.rest") === null;
    const isDrawn = this.text.parentElement?.previousElementSibling?.classList.contains("row") !== true; // only the first is
    this.atEnd ||= isDrawn && isOpen && this.end() - scrollTop - clientHeight <= 2;
    this.draw();
    return this.atEnd;
  }

  private draw(): void {
    for (const allow of this.allowing) {
      setAttribute(allow, "aria-disabled", !this.atEnd && "true");
      const keys = allow.dataset["keys"];
      setAttribute(allow, "title", this.atEnd ? keys : `Read to the end first${keys === undefined ? "" : ` (${keys})`}`);
    }
  }

  /** The bottom of the part that must be read. The reason and the other answers are below it. */
  private end(): number {
    const last = [...this.text.querySelectorAll<HTMLElement>(":scope > .must")].at(-1)!;
    return last.offsetTop + last.offsetHeight - this.text.offsetTop;
  }

  showMore(): void {
    const rest = this.text.querySelector<HTMLElement>("details.change:not([open])");
    if (this.all && rest !== null) {
      (rest as HTMLDetailsElement).open = true;
      rest.scrollIntoView({ block: "start" });
    } else {
      this.text.scrollBy({ top: this.text.clientHeight * 0.8 });
      this.text.querySelector<HTMLElement>("button.rest")?.click();
    }
    this.text.focus();
  }
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
  return h("div", { class: "buttons reject" }, reason, button("Reject with Reason", () => reject(reason.value.trim())));
}

/** The whole command or diff. */
function subject(asking: RequestContext, { command, edits }: PermissionRow): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (command !== undefined) {
    parts.push(
      h("pre", { class: "command must" }, documentText(command.text)),
      h("p", { class: "where faint must" }, plainLine(`in ${command.cwd}`)),
    );
  }
  return [...parts, ...(edits ?? []).map((diff) => change(asking, diff))];
}

/** The shell and the environment of the command, behind a toggle. */
function howElement({ command }: PermissionRow): HTMLElement[] {
  if (command === undefined) {
    return [];
  }
  const by = (command.argv.at(-1) === command.text ? command.argv.slice(0, -1) : command.argv).join(" "); // the shell
  const how = [...(by === "" ? [] : [`by ${by}`]), ...(command.env.length === 0 ? [] : [`with ${command.env.join(" ")}`])];
  return how.length === 0 ? [] : [h("details", { class: "how faint" }, h("summary", {}, h("span", { class: "title" }, plainLine(how.join(" ")))))];
}

/** The diff of a file behind a toggle. */
function change(asking: RequestContext, diff: Diff): HTMLElement {
  const name = fileName(diff.uri, asking.folders());
  const lines = (text: string): number => (text === "" ? 0 : text.replace(/\n$/, "").split("\n").length);
  const sum = (side: "oldText" | "newText"): number => diff.hunks.reduce((total, hunk) => total + lines(hunk[side]), 0);
  const figures = ` +${String(sum("newText"))} −${String(sum("oldText"))}`;
  return h("details", { class: "change must" }, h("summary", {}, name, h("span", { class: "faint" }, figures)), diffElement(asking.page, diff, asking.folders()));
}
