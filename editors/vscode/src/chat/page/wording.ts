/** How the chat describes turns and calls, as the other clients do. Pure. */

import { counted, formatMoney, joinParts, shortNumber } from "../../text/figures";
import { grantCoverage } from "../../text/permissionWords";
import { problemWithKey, turnProblem, type TurnProblem } from "../../model/turnProblems";
import type { CallView, PermissionRow, Status, TurnHead } from "../messages";
import { chatLine, plainExcerpt, plainLine } from "../../text/surfaces";

/** The line below a turn. */
export function endingWords(head: TurnHead): string {
  switch (head.state) {
    case "sending":
      return "Sending…";
    case "queued":
      return head.waits === true ? "Queued behind another turn" : "Sending…"; // it starts in a moment
    case "running":
      return "";
    case "ended": {
      const { stopReason, usage, edits } = head;
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      return joinParts(
        stopReason === "cancelled" && "Cancelled", // problemCard.ts draws the other reasons
        edits !== undefined && edits > 0 && `${counted(edits, "file")} changed`,
        tokens > 0 && `${shortNumber(tokens)} tokens`,
        usage?.costUsd !== undefined && usage.costUsd > 0 && formatMoney(usage.costUsd),
      );
    }
  }
}

/** What went wrong in a turn. Undefined: nothing went wrong. */
export function problemOf({ stopReason, error, model = "", key }: TurnHead): TurnProblem | undefined {
  const problem = turnProblem(stopReason, error?.code, model);
  return problem === undefined || key === undefined ? problem : problemWithKey(problem, model, key.result);
}

/** What screen readers announce at the end of a turn. `answer`: the start of its last text. */
export function endAnnouncement(head: TurnHead, answer: string): string {
  if (head.stopReason === "cancelled") {
    return "Tark was stopped";
  }
  const problem = problemOf(head);
  const stopped = head.key === undefined ? "Tark stopped. " : "";
  return problem === undefined ? `Tark is done. ${answer}` : `${stopped}${chatLine(problem.sentence)}`;
}

/** The sign of a call's status, and its name for screen readers. */
export const STATUSES: Readonly<Record<string, { readonly sign: string; readonly word: string }>> = {
  pending: { sign: "·", word: "pending" },
  in_progress: { sign: "●", word: "running" },
  waiting: { sign: "?", word: "waiting for you" },
  completed: { sign: "✓", word: "done" },
  failed: { sign: "✗", word: "failed" },
  rejected: { sign: "✗", word: "rejected" },
  cancelled: { sign: "-", word: "cancelled" },
};

const LONGEST_TITLE = 500;

function outcome(call: CallView): string {
  for (const part of call.content ?? []) {
    const { type, text } = part as { type?: string; text?: string };
    if (type === "text" && typeof text === "string") {
      return plainExcerpt((/^.*\S.*$/m.exec(text)?.[0] ?? "").trim(), LONGEST_TITLE);
    }
  }
  return "";
}

/** Why the call failed, in one line. */
export function callProblem(call: CallView): string {
  return call.status === "failed" || call.status === "rejected" ? outcome(call) : "";
}

/**
 * Parses the server's notice of a retry, `retrying in 2 s (too many requests)`: the time until then, and the text shown
 * afterwards. This text does not say that the retry was made, because it may never have happened.
 */
export function retryOf(message: string): { readonly ms: number; readonly past: string } | undefined {
  const [, seconds, reason] = /^retrying in (\d+) s \((.*)\)$/s.exec(message) ?? [];
  if (seconds === undefined || reason === undefined) {
    return undefined;
  }
  return { ms: Number(seconds) * 1000, past: `retry${seconds === "0" ? "" : ` after ${seconds} s`}: ${reason}` };
}

/** The name of a file: relative to its workspace folder, if it is in one. */
export function fileName(uri: string, folders: readonly string[]): string {
  const folder = folders.find((parent) => uri.startsWith(parent.endsWith("/") ? parent : `${parent}/`));
  const name = folder === undefined ? uri.replace(/^file:\/\//, "") : uri.slice(folder.replace(/\/$/, "").length + 1);
  try {
    return plainLine(decodeURIComponent(name));
  } catch {
    return plainLine(name);
  }
}

/** The title of a grant: what it covers. */
export function grantWords(request: PermissionRow, covers: string): string {
  return `Allow ${plainLine(grantCoverage(request.command?.text, covers))}`;
}

/** How full the context window is. `share`: in percent; undefined if the window is unknown. */
export function contextMeter({ contextUsed: used, contextWindow: window }: Status): { readonly label: string; readonly words: string; readonly share?: number } | undefined {
  if (used === undefined) {
    return undefined;
  }
  if (window === undefined || window <= 0) {
    return { label: `${shortNumber(used)} tokens`, words: `Context: ${shortNumber(used)} tokens` };
  }
  const label = `${shortNumber(used)} of ${shortNumber(window)}`;
  const share = Math.min(100, Math.round((used * 100) / window));
  return { label, words: `Context: ${label} tokens, ${share}%`, share };
}
