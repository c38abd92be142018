/** Context keys of what the user has done for the first time: they complete the steps of the walkthrough. */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import type { State } from "../model/state";
import type { Update } from "../model/transcriptTurn";

/** The key, once the update says that it happened. */
function milestoneOf(update: Update): string | undefined {
  if (update.kind === "hunks") {
    const hunks = update["hunks"] as readonly { state?: string }[] | undefined;
    return hunks?.some(({ state }) => state === "accepted" || state === "rejected") === true ? "tark.decided" : undefined;
  }
  if (update.kind !== "end") {
    return undefined;
  }
  return Array.isArray(update["edits"]) && update["edits"].length > 0 ? "tark.edited" : update["stopReason"] === "end_turn" ? "tark.answered" : undefined;
}

export function trackMilestones(state: State): Disposable {
  const reached = new Set<string>();
  const reach = (key: string | undefined): void => {
    if (key !== undefined && !reached.has(key)) {
      reached.add(key);
      void vscode.commands.executeCommand("setContext", key, true);
    }
  };
  const listening = [
    state.on("update", ({ params }) => reach(milestoneOf(params.update))),
    state.on("session", () => reach(state.settings?.model ? "tark.modelSet" : undefined)),
  ];
  return { dispose: () => listening.forEach((listener) => listener.dispose()) };
}
