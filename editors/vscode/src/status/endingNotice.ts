/** Which notification an update or a request needs, depending on what the user can see. Pure. */

import type { Update } from "../model/transcriptTurn";
import { counted } from "../text/figures";

/** `away`: another window has the focus, and the user wants to be told. */
export interface Attention {
  readonly chatVisible: boolean;
  readonly away: boolean;
}

export interface Notice {
  readonly level: "info" | "warning";
  readonly message: string;
}

/** Messages for stop reasons other than a normal end. */
const STOPPED: Readonly<Record<string, string>> = {
  max_tokens: "the answer was cut off: it reached the model's output limit",
  max_turn_requests: "the turn was stopped: it reached the limit of requests",
  budget: "the turn was stopped: it reached the cost limit",
  refusal: "the model refused to answer",
};

/** A turn that changed files ends without a notification if the user is here: the changes are visible. */
export function endingNotice(update: Update, { chatVisible, away }: Attention): Notice | undefined {
  if (chatVisible && !away) {
    return undefined;
  }
  const problem = problemOf(update);
  if (problem !== undefined) {
    return { level: "warning", message: problem };
  }
  if (update.kind !== "end" || update["stopReason"] !== "end_turn") {
    return undefined;
  }
  const changed = [update["edits"], update["changedByCommand"]].reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  if (changed === 0) {
    return { level: "info", message: "answered without changing files" };
  }
  return away ? { level: "info", message: `finished, with changes in ${counted(changed, "file")}` } : undefined;
}

/** A new request waits. If the chat is hidden, the request has its own notification (asking/). */
export function waitingNotice({ chatVisible, away }: Attention): Notice | undefined {
  return chatVisible && away ? { level: "info", message: "waiting for your answer" } : undefined;
}

/** Undefined if there is no problem, or if the end of the server is already reported. */
function problemOf(update: Update): string | undefined {
  if (update.kind === "notice" && update["level"] !== "info") {
    return String(update["message"]);
  }
  if (update.kind !== "end") {
    return undefined;
  }
  const error = update["error"] as { code?: string; message?: string; hint?: string } | null | undefined;
  if (update["stopReason"] !== "error" || !error) {
    return STOPPED[String(update["stopReason"])];
  }
  return error.code === "interrupted" ? undefined : [error.message, error.hint].filter(Boolean).join("; ");
}
