/** Cancels the turns of the current session, or all turns. */

import type { RunningTurns } from "../model/runningTurns";
import type { Server } from "../model/server";
import { showInfo } from "../window/notify";

export async function stopSession(server: Server, running: RunningTurns): Promise<void> {
  const { sessionId } = server.state;
  if (sessionId === undefined) {
    sayNothingRuns(running); // the next prompt starts a new session
  } else {
    await stopTurns(server, running, { sessionId });
  }
}

export async function stopAll(server: Server, running: RunningTurns): Promise<void> {
  await stopTurns(server, running, {});
}

async function stopTurns(server: Server, running: RunningTurns, turns: { sessionId?: string }): Promise<void> {
  const { cancelled } = server.running
    ? await server.executeCommand<{ cancelled: readonly string[] }>("tark.turn.cancel", turns)
    : { cancelled: [] };
  if (cancelled.length === 0) {
    sayNothingRuns(running);
  }
}

function sayNothingRuns(running: RunningTurns): void {
  void showInfo(
    running.count > 0
      ? 'no turn is running in this session; "Tark: Stop All Turns" stops those of other sessions'
      : "no turn is running",
  );
}
