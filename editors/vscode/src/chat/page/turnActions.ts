/** The buttons of a turn: next to its prompt, and at its end. */

import type { TurnHead } from "../messages";
import { button, h } from "./element";
import type { Page } from "./page";

/** Kinds that need only a prompt. Other kinds are about a place in a file, which an edited prompt would lack. */
const EDITED = new Set(["agent", "ask"]);
const UNDONE: Readonly<Record<string, string>> = { all: "Undone", partly: "Undone in part" };

/** What the buttons depend on. They are recreated only if this changes, so that a focused button stays. */
export function actionsKey({ state, undoable, undone, mode, stopReason }: TurnHead): string {
  return [state, undoable, undone, mode, stopReason].join();
}

export function promptButtons(page: Page, head: TurnHead, edit: () => void): readonly HTMLElement[] {
  const { turnId, state, turnKind = "agent", undoable, undone } = head;
  const begun = state === "running" || state === "ended";
  const undo = (): void => page.post({ kind: "undo", turnId });
  const restore = (): void => page.post({ kind: "restore", turnId });
  const cancel = (): void => page.post({ kind: "cancel", turnId });
  return [
    ...(state === "ended" ? [button("Restore to Here", restore, { class: "restore", "aria-label": "Restore to Here, before this prompt", title: "Go back to before this prompt" })] : []),
    ...(state === "ended" && undoable === true && undone !== "all"
      ? [button("Undo", undo, { "aria-label": "Undo the changes of this turn", title: "Undo the changes of this turn" })]
      : []),
    ...(begun && EDITED.has(turnKind)
      ? [button("Edit", edit, { "aria-label": "Edit this prompt and send it in a new session", title: "Edit and send again" })]
      : []),
    ...(state === "queued" ? [button("Cancel", cancel, { "aria-label": "Cancel this queued prompt" })] : []),
  ];
}

/** The end of a turn: the note that it is undone, and the button that approves its plan (CSS shows it only in the last turn). */
export function endButtons(page: Page, { turnId, state, undone, mode, stopReason }: TurnHead): readonly HTMLElement[] {
  if (state !== "ended") {
    return [];
  }
  const redo = (): void => page.post({ kind: "redo", turnId });
  const approve = (): void => page.post({ kind: "approvePlan" });
  return [
    ...(undone !== undefined
      ? [h("div", { class: "buttons undone" }, UNDONE[undone] ?? "Undone", " ", button("Redo", redo, { "aria-label": "Redo the changes of this turn", title: "Redo the changes of this turn" }))]
      : []),
    ...(mode === "plan" && stopReason === "end_turn" ? [h("div", { class: "buttons approve" }, button("Approve Plan and Build", approve, { class: "main" }))] : []),
  ];
}
