/** Tries a failed turn again, or continues it. */

import type { Place } from "../model/place";
import { reportErrors } from "../window/notify";
import type { ChatDependencies } from "./dependencies";
import type { Outbox } from "./outbox";

const CONTINUE = "Continue.";

/** A turn that this window started is started again with its place in the editor; another one with its prompt. */
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
