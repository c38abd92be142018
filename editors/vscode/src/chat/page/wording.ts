/** How the chat describes turns and calls, as the other clients do. Pure. */

import { counted, formatDuration, formatMoney, joinParts, shortNumber } from "../../text/figures";
import { grantCoverage } from "../../text/permissionWords";
import type { CallView, PermissionRow, Status, TurnHead } from "../messages";
import { plainExcerpt, plainLine } from "../../text/surfaces";

/** The line below a turn. */
export function endingWords(head: TurnHead): string {
  switch (head.state) {
    case "sending":
      return "sending…";
    case "queued":
      return head.waits === true ? "queued behind another turn" : "sending…"; // it starts in a moment
    case "running":
      return "";
    case "ended": {
      const { stopReason, usage, edits } = head;
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      return joinParts(
        stopReason === "cancelled" && "cancelled", // problemCard.ts draws the other reasons
        edits !== undefined && edits > 0 && `${counted(edits, "file")} changed`,
        tokens > 0 && `${shortNumber(tokens)} tokens`,
        usage?.costUsd !== undefined && usage.costUsd > 0 && formatMoney(usage.costUsd),
      );
    }
  }
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

export function callTitle(call: CallView): string {
  const title = plainExcerpt((call.title ?? call.name ?? "tool").trim(), LONGEST_TITLE);
  return call.status === "waiting" ? `${title} (waiting for you)` : title;
}

/** How long the call ran. Empty for calls that were very short, or ended before this page was opened. */
export function callDuration(call: CallView, now: number): string {
  const ms = (call.ms ?? 0) + (call.since === undefined ? 0 : now - call.since);
  return call.ms === undefined || ms < 100 ? "" : formatDuration(ms);
}

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

export function contextShare(status: Status): { readonly share: number; readonly words: string } | undefined {
  const { contextUsed: used, contextWindow: window } = status;
  if (used === undefined || window === undefined || window <= 0) {
    return undefined;
  }
  const share = Math.min(100, Math.round((used * 100) / window));
  return { share, words: `${share}% of the context window used, ${shortNumber(used)} of ${shortNumber(window)} tokens` };
}
