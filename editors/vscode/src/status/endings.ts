/** How a turn ended and what it warns of, for the person who does not see it: the chat is not on the screen. */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import { say, warn } from "./notify";
import type { State } from "../model/state";
import type { Update } from "../model/transcriptTypes";

/** Why a turn ended that did not come to its own end. */
const STOPPED: Readonly<Record<string, string>> = {
  max_tokens: "the answer was cut: it reached the most the model may write at once",
  max_turn_requests: "stopped at the most requests of one turn",
  budget: "stopped at its cost limit",
  refusal: "the model refused to answer",
};

const CHAT = "Open Chat";

export function watchEndings(state: State, isChatVisible: () => boolean): Disposable {
  return state.on("update", ({ params: { update } }) => {
    const problem = problemOf(update);
    if (isChatVisible()) {
      return;
    }
    if (problem !== undefined) {
      void warn(problem, CHAT).then(openChat);
    } else if (update.kind === "end" && update["stopReason"] === "end_turn" && !changed(update)) {
      void say("answered without a change", CHAT).then(openChat);
    }
  });
}

/** Undefined: it is none, or is told with the end of the server. */
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

function changed(update: Update): boolean {
  return [update["edits"], update["changedByCommand"]].some((each) => Array.isArray(each) && each.length > 0);
}

async function openChat(choice: string | undefined): Promise<void> {
  if (choice !== undefined) {
    await vscode.commands.executeCommand("tark.client.chat");
  }
}
