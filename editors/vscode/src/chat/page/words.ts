/** What the chat says of turns, calls and sessions, in the words of the other clients. Pure. */

import { counted, duration, money, row, short } from "../../text/figures";
import type { CallView, PermissionRow, Status, TurnHead } from "../messages";
import { oneLine } from "./prose";

const STOPS: Readonly<Record<string, string>> = {
  cancelled: "cancelled",
  max_tokens: "the answer was cut: it reached its longest",
  max_turn_requests: "stopped at the limit of requests",
  budget: "stopped at the limit of cost",
  refusal: "the model refused",
};

/** What stands below a turn. */
export function ending(head: TurnHead): string {
  switch (head.state) {
    case "sending":
      return "sending…";
    case "queued":
      return head.waits === true ? "waits for the turn before it" : "sending…"; // it begins in a moment
    case "running":
      return "";
    case "ended": {
      const { stopReason, usage, edits } = head;
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      return row(
        stopReason !== undefined && stopReason !== "end_turn" && stopReason !== "error" && (STOPS[stopReason] ?? stopReason),
        edits !== undefined && edits > 0 && `${counted(edits, "file")} changed`,
        tokens > 0 && `${short(tokens)} tokens`,
        usage?.costUsd !== undefined && usage.costUsd > 0 && money(usage.costUsd),
      );
    }
  }
}

/** The sign of a call's status, and the word for who does not see it. */
export const STATUSES: Readonly<Record<string, { readonly sign: string; readonly word: string }>> = {
  pending: { sign: "·", word: "to come" },
  in_progress: { sign: "●", word: "running" },
  waiting: { sign: "?", word: "waits for you" },
  completed: { sign: "✓", word: "done" },
  failed: { sign: "✗", word: "failed" },
  rejected: { sign: "✗", word: "rejected" },
  cancelled: { sign: "-", word: "cancelled" },
};

const LONGEST_TITLE = 500;

export function callTitle(call: CallView): string {
  const title = oneLine(call.title ?? call.name ?? "tool").slice(0, LONGEST_TITLE);
  return call.status === "waiting" ? `${title} (waits for you)` : title;
}

/** How long it ran; nothing of calls that were over before anybody looked, or in no time. */
export function callDuration(call: CallView, now: number): string {
  const ms = (call.ms ?? 0) + (call.since === undefined ? 0 : now - call.since);
  return call.ms === undefined || ms < 100 ? "" : duration(ms);
}

function outcome(call: CallView): string {
  for (const part of call.content ?? []) {
    const { type, text } = part as { type?: string; text?: string };
    if (type === "text" && typeof text === "string") {
      return oneLine(/^.*\S.*$/m.exec(text)?.[0] ?? "");
    }
  }
  return "";
}

/** Why it did nothing, in a line. */
export function callProblem(call: CallView): string {
  return call.status === "failed" || call.status === "rejected" ? outcome(call).slice(0, LONGEST_TITLE) : "";
}

/** Of the workspace's folders a file is named from where it is in them. */
export function fileName(uri: string, folders: readonly string[]): string {
  const folder = folders.find((each) => uri.startsWith(each.endsWith("/") ? each : `${each}/`));
  const name = folder === undefined ? uri.replace(/^file:\/\//, "") : uri.slice(folder.replace(/\/$/, "").length + 1);
  try {
    return oneLine(decodeURIComponent(name));
  } catch {
    return oneLine(name);
  }
}

export const RISKS: Readonly<Record<string, string>> = {
  read_only: "only reads",
  write: "writes",
  risky: "risky",
  dangerous: "DANGEROUS",
};

/** What a grant allows from now on. */
export function grantWords(request: PermissionRow, covers: string): string {
  const command = request.command && `\`${request.command.text}\``;
  const of = command !== undefined && covers.startsWith(command) ? `this very command${covers.slice(command.length)}` : covers;
  return `Allow ${oneLine(of)}`;
}

export function context(status: Status): { readonly share: number; readonly words: string } | undefined {
  const { contextUsed: used, contextWindow: window } = status;
  if (used === undefined || window === undefined || window <= 0) {
    return undefined;
  }
  const share = Math.min(100, Math.round((used * 100) / window));
  return { share, words: `${share}% of the context used, ${short(used)} of ${short(window)} tokens` };
}
