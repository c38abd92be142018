/** Draws a diff as colored lines with signs. */

import type { Diff } from "../messages";
import { button, h } from "./element";
import type { Page } from "./page";
import { fileName } from "./wording";
import { documentText } from "../../text/surfaces";

const MOST_LINES = 200; // before the user asks for all

interface DiffLine {
  readonly sign: "-" | "+" | "@";
  readonly words: string;
}

export function diffElement(page: Page, diff: Diff, folders: readonly string[]): HTMLElement {
  const name = fileName(diff.uri, folders);
  const line = diff.hunks[0]?.range?.start.line;
  const open = button(
    name,
    () => page.post({ kind: "openUri", uri: diff.uri, ...(line !== undefined && { line }) }),
    { class: "file", title: `Open ${name}` },
  );
  return h("div", { class: "diff" }, open, someLines(lines(diff, folders), `Changes in ${name}`));
}

/** The first lines, and a button that shows the rest. */
function someLines(all: readonly DiffLine[], name: string): HTMLElement {
  const frame = h("pre", { tabindex: 0, role: "group", "aria-label": name });
  frame.append(...all.slice(0, MOST_LINES).map(lineElement));
  if (all.length <= MOST_LINES) {
    return frame;
  }
  const more = button(`${all.length - MOST_LINES} more lines`, () => {
    frame.append(...all.slice(MOST_LINES).map(lineElement));
    more.remove();
    frame.focus();
  }, { class: "rest" });
  return h("div", {}, frame, more);
}

function lineElement({ sign, words }: DiffLine): HTMLElement {
  const name = sign === "-" ? "del" : sign === "+" ? "ins" : "span";
  return h(name, { class: `line${sign === "@" ? " place" : ""}` }, `${sign}${words}\n`);
}

function lines(diff: Diff, folders: readonly string[]): DiffLine[] {
  return diff.hunks.flatMap((hunk) => {
    const place = hunk.range === undefined || hunk.operation ? "" : ` line ${hunk.range.start.line + 1}`;
    const outside = hunk.outsideSelection === true ? " outside the selection" : "";
    const decided = hunk.state === undefined || hunk.state === "pending" ? "" : ` ${hunk.state}`;
    const file = hunk.operation ? ` ${hunk.operation.kind === "move" ? `moved to ${fileName(hunk.operation.target ?? "", folders)}` : "removed"}` : "";
    return [
      { sign: "@" as const, words: documentText(`@${file}${place}${outside}${decided}`) },
      ...side("-", hunk.oldText),
      ...side("+", hunk.newText),
    ];
  });
}

function side(sign: "-" | "+", text: string): DiffLine[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").map((words) => ({ sign, words: documentText(words) }));
}
