/** The commands that accept or reject hunks, the names of these decisions, and the message about the result. Pure. */

import { counted } from "../text/figures";
import type { Hunk } from "../model/protocol";
import { countChanges, type UndecidedHunk } from "./hunkText";
import { addressUser } from "../text/serverWords";

export type Decision = "accept" | "reject";

export interface DecisionCommand {
  readonly command: string;
  readonly argument: { readonly hunkIds: string[] } | { hunkId: string; newText: string; accept: true };
}

export interface Outcome {
  readonly done: number;
  readonly problems: ReadonlySet<string>;
}

/** `typedOver`: the user changed the hunk's lines, and the server is about to report a conflict. */
export interface HunkToDecide {
  readonly hunk: Hunk;
  readonly typedOver: boolean;
}

/**
 * Groups hunks into as few commands as possible. A conflict needs its own command: accepting it replaces the user's
 * text with Tark's lines, rejecting it keeps the user's text.
 */
export function decisionCommands(chosen: readonly HunkToDecide[], decision: Decision): DecisionCommand[] {
  const found: DecisionCommand[] = [];
  const together = new Map<string, string[]>();
  for (const { hunk, typedOver } of chosen) {
    const isConflict = (hunk.state === "conflict" || typedOver) && !hunk.operation;
    if (isConflict && decision === "accept") {
      const { hunkId, newText } = hunk;
      found.push({ command: "tark.hunk.edit", argument: { hunkId, newText, accept: true } });
      continue;
    }
    // To keep the user's text over an applied hunk, the hunk is accepted.
    const command = `tark.hunk.${isConflict && hunk.applied ? "accept" : decision}`;
    const hunkIds = together.get(command) ?? [];
    if (hunkIds.length === 0) {
      together.set(command, hunkIds);
      found.push({ command, argument: { hunkIds } });
    }
    hunkIds.push(hunk.hunkId);
  }
  return found;
}

/** Can the hunk be decided together with others? Conflicts are decided one by one. */
export function isUncontested({ hunk, typedOver }: HunkToDecide): boolean {
  return hunk.state === "pending" && !typedOver;
}

/** The names of the decisions: an applied change is kept or undone, a proposed change is accepted or rejected. */
export function decisionTitles(applied: boolean): readonly [accept: string, reject: string] {
  return applied ? ["Keep", "Undo"] : ["Accept", "Reject"];
}

const DONE: Readonly<Record<Decision, readonly [proposed: string, applied: string]>> = {
  accept: ["accepted", "kept"],
  reject: ["rejected", "undid"],
};
const NOT_DONE = { accepted: "not accepted", kept: "not kept", rejected: "not rejected", undid: "not undone" } as const;

/** The message about the result, and about what is left to review. `chosen`: before the decision. */
export function decisionMessage(decision: Decision, outcome: Outcome, chosen: readonly Hunk[], left: readonly UndecidedHunk[]): string {
  const done = DONE[decision][chosen.length > 0 && chosen.every((hunk) => hunk.applied) ? 1 : 0];
  const words = `${done} ${counted(outcome.done, "change")}`;
  if (outcome.problems.size > 0) {
    const problems = [...outcome.problems].map(addressUser).join("; ");
    return `${outcome.done > 0 ? `${words}, ` : ""}${NOT_DONE[done as keyof typeof NOT_DONE]}: ${problems}`;
  }
  return `${words}, ${left.length > 0 ? `${countChanges(left)} left` : "nothing left to review"}`;
}
