/** Sets the context keys that complete the steps of the walkthrough, when the user has done them. */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import type { State } from "../model/state";
import type { Update } from "../model/transcriptTurn";

/** Returns the key of the step that this update completes. */
function completedStep(update: Update): string | undefined {
  if (update.kind === "hunks") {
    const hunks = update["hunks"] as readonly { state?: string }[] | undefined;
    return hunks?.some(({ state }) => state === "accepted" || state === "rejected") === true ? "tark.decided" : undefined;
  }
  if (update.kind !== "end") {
    return undefined;
  }
  return Array.isArray(update["edits"]) && update["edits"].length > 0 ? "tark.edited" : update["stopReason"] === "end_turn" ? "tark.answered" : undefined;
}

export function trackWalkthroughSteps(state: State): Disposable {
  const reached = new Set<string>();
  const reach = (key: string | undefined): void => {
    if (key !== undefined && !reached.has(key)) {
      reached.add(key);
      void vscode.commands.executeCommand("setContext", key, true);
    }
  };
  const listening = [
    state.on("update", ({ params }) => reach(completedStep(params.update))),
    state.on("session", () => reach(state.settings?.model ? "tark.modelSet" : undefined)),
  ];
  return { dispose: () => listening.forEach((listener) => listener.dispose()) };
}
