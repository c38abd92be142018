/** A session as a row of a list, in the picker and in the chat. Pure. */

import { counted, formatAge, formatMoney, joinParts } from "../text/figures";
import type { Session } from "./protocol";

/** What a user can do with a session in a list. */
export type SessionAction = "open" | "rename" | "fork" | "export" | "delete";

export const UNTITLED = "(no title)";

/** `3 h · 2 turns · openai/gpt-6.1-sol · $0.0200 · read-only` */
export function sessionFigures({ updated, turns, model, costUsd, readOnly }: Session, now: number): string {
  const cost = costUsd ? formatMoney(costUsd) : "";
  return joinParts(formatAge(updated, now), counted(turns, "turn"), model, cost, readOnly === true && "read-only");
}
