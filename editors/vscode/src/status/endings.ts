/** Notifies the user of the end of a turn and of its warnings, if the chat is not visible. */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import { showInfo, showWarning } from "../window/notify";
import type { State } from "../model/state";
import type { Update } from "../model/transcriptTurn";

/** Messages for stop reasons other than a normal end. */
const STOPPED: Readonly<Record<string, string>> = {
  max_tokens: "the answer was cut off: it reached the model's output limit",
  max_turn_requests: "the turn was stopped: it reached the limit of requests",
  budget: "the turn was stopped: it reached the cost limit",
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
      void showWarning(problem, CHAT).then(openChat);
    } else if (update.kind === "end" && update["stopReason"] === "end_turn" && !changed(update)) {
      void showInfo("answered without changing files", CHAT).then(openChat);
    }
  });
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

function changed(update: Update): boolean {
  return [update["edits"], update["changedByCommand"]].some((list) => Array.isArray(list) && list.length > 0);
}

async function openChat(choice: string | undefined): Promise<void> {
  if (choice !== undefined) {
    await vscode.commands.executeCommand("tark.client.chat");
  }
}
