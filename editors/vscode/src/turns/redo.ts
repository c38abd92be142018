/** Does again what was undone of a turn. */

import type { Optional } from "../model/protocol";
import type { Server } from "../model/server";
import { oldestUndone } from "../model/transcript";
import { relativeName } from "../window/files";
import { showInfo, showWarning } from "../window/notify";

export interface UndoAnswer {
  readonly restored: readonly string[];
  readonly kept: readonly { readonly uri: string; readonly reason: string }[];
}

/** Tells the result only if something was kept: otherwise the chat shows it. */
export async function redoTurn(server: Server, turnId: string): Promise<void> {
  const answer = await server.executeCommand<Optional<UndoAnswer>>("tark.turn.redo", { turnId });
  if (answer == null) {
    return; // a server that does not know this editor answers before it is done
  }
  if (answer.kept.length > 0) {
    void showWarning(keptWords(answer.kept));
  } else if (answer.restored.length === 0) {
    void showInfo("there is nothing to redo");
  }
}

/** Redoes the oldest turn of the session that is undone, because a later one can need its lines. */
export async function redoOldest(server: Server): Promise<void> {
  const turnId = oldestUndone(server.state.transcripts.get(server.state.sessionId ?? ""));
  if (turnId === undefined) {
    void showInfo("there is nothing to redo");
  } else {
    await redoTurn(server, turnId);
  }
}

export function keptWords(kept: UndoAnswer["kept"]): string {
  return kept.map(({ uri, reason }) => `kept ${relativeName(uri)}: ${reason}`).join("; ");
}
