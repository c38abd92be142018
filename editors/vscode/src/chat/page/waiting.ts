/** What waits for the person: permissions with what is asked for whole, and questions of the model. */

import type { InputRow, PermissionRow, Reply } from "../messages";
import { diffElement } from "./diff";
import { button, h } from "./element";
import type { Page } from "./page";
import { oneLine, prose } from "./prose";
import { code as visible } from "../../visible";
import { grantWords, RISKS } from "./words";

const DEAD_MS = 300; // a click that was meant for what stood here before decides nothing

export class WaitingPart {
  readonly element = h("section", { class: "waiting", "aria-label": "Waits for you", hidden: true });
  private readonly rows = new Map<string, { readonly shown: string; readonly element: HTMLElement }>();

  constructor(
    private readonly page: Page,
    private readonly folders: () => readonly string[],
  ) {
    this.element.append(h("h2", {}, "Waits for you"));
  }

  /** Rows that are as they were stay; what was typed into one stays in any case. */
  show(permissions: readonly PermissionRow[], inputs: readonly InputRow[]): void {
    const now = new Set([...permissions, ...inputs].map(({ requestId }) => requestId));
    const isNew = [...now].some((requestId) => !this.rows.has(requestId));
    for (const [requestId, { element }] of this.rows) {
      if (!now.has(requestId)) {
        element.remove();
        this.rows.delete(requestId);
      }
    }
    for (const each of permissions) {
      const decided = (each.edits ?? []).flatMap(({ hunks }) => hunks.map(({ state }) => state)).join();
      this.row(each.requestId, `${each.digest}/${decided}`, () => this.permission(each));
    }
    for (const each of inputs) {
      this.row(each.requestId, "", () => this.input(each));
    }
    this.element.hidden = now.size === 0;
    if (isNew) {
      const first = permissions[0]?.title ?? inputs[0]?.question ?? "";
      this.page.announce(`Tark waits for you: ${oneLine(first).slice(0, 150)}`);
    }
  }

  private row(requestId: string, shown: string, make: () => HTMLElement): void {
    const before = this.rows.get(requestId);
    if (before?.shown !== shown) {
      const element = make();
      this.rows.set(requestId, { shown, element });
      if (before === undefined) {
        this.element.append(element);
      } else {
        replace(before.element, element);
      }
    }
  }

  private permission(request: PermissionRow): HTMLElement {
    const { requestId, digest } = request;
    const born = performance.now();
    const answer = (reply: Reply) => () => {
      if (performance.now() - born > DEAD_MS) {
        this.page.tell({ kind: "permission", requestId, digest, reply });
      }
    };
    const reason = h("input", { type: "text", "aria-label": "Reason to reject, for the model", placeholder: "because …" });
    const reject = (): void => {
      const words = reason.value.trim();
      answer({ outcome: "reject", ...(words !== "" && { reason: words }) })();
    };
    reason.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing && reason.value.trim() !== "") {
        reject();
      }
    });
    const risk = RISKS[request.risk] ?? oneLine(request.risk);
    return h(
      "div",
      { class: "row permission", role: "group", "aria-label": `Permission: ${oneLine(request.title)}`, "data-risk": request.risk },
      h("h3", {}, request.command === undefined ? visible(oneLine(request.title)) : "Run a command"),
      h("p", { class: "why" }, h("strong", { class: "risk" }, risk), `, asked because ${visible(oneLine(request.why))}`),
      ...this.subject(request),
      h(
        "div",
        { class: "buttons" },
        button("Allow", answer({ outcome: "allow" }), { class: "main" }),
        button("Reject", answer({ outcome: "reject" })),
        button("Show", () => this.page.tell({ kind: "showPermission", requestId }), { title: "All of it in an editor" }),
      ),
      h(
        "details",
        { class: "more" },
        h("summary", {}, "Other answers"),
        h(
          "div",
          { class: "buttons" },
          ...request.grants.map(({ id, covers }) => button(visible(grantWords(request, covers)), answer({ outcome: "allow", grant: id }))),
          button("Cancel the turn", answer({ outcome: "cancelled" })),
        ),
        h("div", { class: "buttons reject" }, reason, button("Reject because", reject)),
      ),
    );
  }

  /** The whole command, or the whole diff. */
  private subject({ command, edits }: PermissionRow): HTMLElement[] {
    const parts: HTMLElement[] = [];
    if (command !== undefined) {
      const by = (command.argv.at(-1) === command.text ? command.argv.slice(0, -1) : command.argv).join(" "); // the shell
      parts.push(
        h("pre", { class: "command", tabindex: 0, role: "group", "aria-label": "Command" }, visible(command.text)),
        h("p", { class: "faint" }, `in ${visible(oneLine(command.cwd))}${by === "" ? "" : ` by ${visible(oneLine(by))}`}`),
      );
    }
    return [...parts, ...(edits ?? []).map((diff) => diffElement(this.page, diff, this.folders()))];
  }

  private input({ requestId, question, options, multiple, freeText }: InputRow): HTMLElement {
    const answer = (words: readonly string[] | string | null): void => {
      this.page.tell({ kind: "input", requestId, answer: words });
    };
    const row = h("div", { class: "row input", role: "group", "aria-label": "Question of the model" }, h("p", { class: "question" }, prose(question)));
    const boxes = multiple ? options.map(({ id }) => h("input", { type: "checkbox", value: id })) : [];
    const choices = multiple ? [] : options.map(({ id, label }) => button(oneLine(label), () => answer([id])));
    const chosen = (): void => answer(boxes.filter((box) => box.checked).map((box) => box.value));
    row.append(
      ...boxes.map((box, index) => h("label", { class: "option" }, box, oneLine(options[index]!.label))),
      h("div", { class: "buttons" }, ...choices, ...(boxes.length > 0 ? [button("Answer", chosen, { class: "main" })] : [])),
      ...(freeText ? [this.ownWords(answer)] : []),
      h("div", { class: "buttons" }, button("Do not answer", () => answer(null))),
    );
    return row;
  }

  private ownWords(answer: (words: string) => void): HTMLElement {
    const field = h("textarea", { rows: 2, "aria-label": "Your own words", placeholder: "Your own words" });
    const send = (): void => {
      if (field.value.trim() !== "") {
        answer(field.value.trim());
      }
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        send();
      }
    });
    return h("div", { class: "own" }, field, h("div", { class: "buttons" }, button("Send these words", send)));
  }
}

/** Of the same request: what was typed, and where the focus is, stay. */
function replace(before: HTMLElement, after: HTMLElement): void {
  const [folded, unfolded] = [before, after].map((row) => row.querySelector("details"));
  if (folded?.open === true && unfolded) {
    unfolded.open = true;
  }
  const [were, are] = [before, after].map((row) => [...row.querySelectorAll<HTMLElement>("input, button, summary")]);
  const focused = were!.findIndex((each) => each === document.activeElement);
  before.querySelectorAll<HTMLInputElement>("input[type=text]").forEach((field, index) => {
    after.querySelectorAll<HTMLInputElement>("input[type=text]")[index]!.value = field.value;
  });
  before.replaceWith(after);
  are![focused]?.focus();
}
