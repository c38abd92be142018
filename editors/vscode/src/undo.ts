/** Takes back what turns changed, the last one first. */

import { say, warn } from "./notify";
import type { Optional } from "./protocol";
import { nameOf } from "./review/files";
import type { RunningTurns } from "./runningTurns";
import type { Server } from "./server/server";

interface Undone {
  readonly restored: readonly string[];
  readonly kept: readonly { readonly uri: string; readonly reason: string }[];
}

export class Undo {
  /** Turns that changed something, as they ended. */
  private readonly changed: { readonly sessionId: string; readonly turnId: string }[] = [];
  private readonly undone = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly running: RunningTurns,
  ) {
    server.state.on("update", ({ params: { update, turnId, sessionId } }) => {
      if (update.kind === "end" && Array.isArray(update["edits"]) && update["edits"].length > 0) {
        this.changed.push({ sessionId, turnId });
      }
    });
  }

  /** The last turn that changed something; called again, the one before it. */
  async last(): Promise<void> {
    if (this.running.isRunning(this.server.state.sessionId)) {
      throw new Error('a turn is still running: end it by "Tark: Stop" before you take it back');
    }
    for (const turnId of this.candidates()) {
      if (await this.turn(turnId)) {
        return;
      }
    }
    void say("there is nothing to take back");
  }

  /** False: its edits were rejected, or were taken back otherwise. */
  async turn(turnId: string): Promise<boolean> {
    const answer = await this.server.command<Optional<Undone>>("tark.turn.undo", { turnId });
    this.undone.add(turnId);
    if (answer == null) {
      void say("it is being taken back");
      return true; // a server that does not know this editor answers before it is done
    }
    if (answer.restored.length + answer.kept.length === 0) {
      return false;
    }
    const names = answer.restored.map(nameOf).join(", ");
    const restored = answer.restored.length > 0 ? [`took back ${this.called(turnId)} in ${names}`] : [];
    const kept = answer.kept.map(({ uri, reason }) => `kept ${nameOf(uri)}: ${reason}`);
    void (kept.length > 0 ? warn : say)([...restored, ...kept].join("; "));
    return true;
  }

  /**
   * Of the current session: what ended while we looked on, then what it says of its past; the newest first. Where none is
   * current, what ended in any.
   */
  private candidates(): string[] {
    const { sessionId, transcripts } = this.server.state;
    const past = sessionId === undefined ? [] : (transcripts.get(sessionId)?.turns ?? []);
    const told = past
      .filter((turn) => turn.state === "ended" && (turn.edits?.length ?? 0) > 0)
      .map(({ turnId }) => turnId);
    const seen = this.changed.filter((each) => sessionId === undefined || each.sessionId === sessionId).map(({ turnId }) => turnId);
    const all = new Set([...seen.toReversed(), ...told.toReversed()]);
    return [...all].filter((turnId) => !this.undone.has(turnId));
  }

  private called(turnId: string): string {
    const known = [...this.server.state.transcripts.values()].map(({ byId }) => byId.get(turnId)?.prompt);
    const line = known.find((prompt) => prompt)?.split("\n", 1)[0] ?? "";
    return line === "" ? "the last turn" : `“${line.length > 40 ? `${line.slice(0, 39)}…` : line}”`;
  }
}
