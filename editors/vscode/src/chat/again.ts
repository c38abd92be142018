/** The buttons after a failed turn: they try it again, continue it, or remove the cause of the failure. */

import * as vscode from "vscode";
import type { Place } from "../model/place";
import { reportErrors } from "../window/notify";
import type { ChatDependencies } from "./dependencies";
import type { KeyCards } from "./keyCards";
import { REMEDY_COMMANDS, type ToHost } from "./messages";
import type { Outbox } from "./outbox";

const CONTINUE = "Continue.";

/** A turn that this window started is restarted with its place in the editor, another turn with its prompt. */
export function tryAgain({ server, turns }: ChatDependencies, outbox: Outbox, place: Place, turnId: string, how: "retry" | "continue"): void {
  const start = turns.starts.startOf(turnId);
  if (how === "continue") {
    outbox.addMessage({ words: CONTINUE });
  } else if (start !== undefined) {
    void reportErrors(() => turns.sendPrompt(start, place));
  } else {
    const words = server.state.transcripts.get(place.sessionId ?? "")?.byId.get(turnId)?.prompt ?? "";
    outbox.addMessage({ words });
  }
}

export async function runRemedy(keys: KeyCards, { turnId, remedy, provider }: Extract<ToHost, { kind: "remedy" }>): Promise<void> {
  const run = (): Thenable<unknown> => vscode.commands.executeCommand(REMEDY_COMMANDS[remedy], provider);
  await (remedy === "setKey" ? keys.setKey(turnId, run) : run());
}
