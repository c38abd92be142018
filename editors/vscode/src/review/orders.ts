/** What is sent to accept or reject hunks, and what is said of the answers. Pure. */

import type { Hunk } from "../model/protocol";
import { count, plural, said, type WaitingHunk } from "./words";

export type Decision = "accept" | "reject";

export interface Order {
  readonly command: string;
  readonly argument: { readonly hunkIds: string[] } | { hunkId: string; newText: string; accept: true };
}

export interface Outcome {
  readonly done: number;
  readonly problems: ReadonlySet<string>;
}

/** One that is to be decided. `typedOver`: the server is about to call it a conflict. */
export interface Chosen {
  readonly hunk: Hunk;
  readonly typedOver: boolean;
}

/**
 * One command for all that can be said together. A conflict is decided in words of its own: accepting it puts Tark's
 * lines over what was typed, rejecting it keeps what was typed.
 */
export function orders(chosen: readonly Chosen[], decision: Decision): Order[] {
  const found: Order[] = [];
  const together = new Map<string, string[]>();
  for (const { hunk, typedOver } of chosen) {
    const isConflict = (hunk.state === "conflict" || typedOver) && !hunk.operation;
    if (isConflict && decision === "accept") {
      const { hunkId, newText } = hunk;
      found.push({ command: "tark.hunk.edit", argument: { hunkId, newText, accept: true } });
      continue;
    }
    // What is applied and was typed over stays as it is by being accepted.
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

/** Can it be decided with others unseen? What the person typed over is decided one by one. */
export function isPlain({ hunk, typedOver }: Chosen): boolean {
  return hunk.state === "pending" && !typedOver;
}

/** Of the answers, and of what is left to decide after them. */
export function told(decision: Decision, outcome: Outcome, left: readonly WaitingHunk[]): string {
  const words = `${decision}ed ${plural(outcome.done, "change")}`;
  if (outcome.problems.size > 0) {
    const problems = [...outcome.problems].map(said).join("; ");
    return `${outcome.done > 0 ? `${words}, ` : ""}not ${decision}ed: ${problems}`;
  }
  return `${words}, ${left.length > 0 ? `${count(left)} left` : "nothing left to review"}`;
}
