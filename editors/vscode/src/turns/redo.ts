/** Redoes what was undone of a turn. */

import type { Optional } from "../model/protocol";
import type { Server } from "../model/server";
import { oldestUndone } from "../model/transcript";
import { relativeName } from "../window/files";
import { showInfo } from "../window/notify";
import { showOutcome } from "./undo";
import { describeOutcome, promptOf, type UndoAnswer } from "./undoOutcome";

/** `isShown`: a visible chat shows the turn. */
export async function redoTurn(server: Server, turnId: string, isShown: boolean): Promise<void> {
  const answer = await server.executeCommand<Optional<UndoAnswer>>("tark.turn.redo", { turnId });
  if (answer == null) {
    return; // a server that does not know this editor answers before it is done
  }
  const outcome = describeOutcome({ ...answer, verb: "redid", prompt: promptOf(server.state, turnId) }, relativeName);
  if (outcome === undefined) {
    void showInfo("there is nothing to redo");
  } else {
    void showOutcome(outcome, isShown);
  }
}

/** Redoes the oldest turn of the session that is undone, because a later one can need its lines. */
export async function redoOldest(server: Server, shows: (sessionId: string) => boolean): Promise<void> {
  const { sessionId = "", transcripts } = server.state;
  const turnId = oldestUndone(transcripts.get(sessionId));
  if (turnId === undefined) {
    void showInfo("there is nothing to redo");
  } else {
    await redoTurn(server, turnId, shows(sessionId));
  }
}
