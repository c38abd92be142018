/** The commands that accept or reject hunks, and the message about the result. Pure. */

import { counted } from "../text/figures";
import type { Hunk } from "../model/protocol";
import { countChanges, addressUser, type UndecidedHunk } from "./hunkText";

export type Decision = "accept" | "reject";

export interface DecisionCommand {
  readonly command: string;
  readonly argument: { readonly hunkIds: string[] } | { hunkId: string; newText: string; accept: true };
}

export interface Outcome {
  readonly done: number;
  readonly problems: ReadonlySet<string>;
}

/** `typedOver`: the user changed its lines, and the server is about to report a conflict. */
export interface HunkToDecide {
  readonly hunk: Hunk;
  readonly typedOver: boolean;
}

/**
 * Groups hunks into as few commands as possible. A conflict needs its own command: accepting it replaces the user's
 * text by Tark's lines, rejecting it keeps the user's text.
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

/** The message about the result, and about what is left to review. */
export function decisionMessage(decision: Decision, outcome: Outcome, left: readonly UndecidedHunk[]): string {
  const words = `${decision}ed ${counted(outcome.done, "change")}`;
  if (outcome.problems.size > 0) {
    const problems = [...outcome.problems].map(addressUser).join("; ");
    return `${outcome.done > 0 ? `${words}, ` : ""}not ${decision}ed: ${problems}`;
  }
  return `${words}, ${left.length > 0 ? `${countChanges(left)} left` : "nothing left to review"}`;
}
