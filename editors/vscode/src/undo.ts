/** Takes back what turns changed, the last one first. */

import * as vscode from "vscode";
import { say, warn } from "./notify";
import type { RunningTurns } from "./runningTurns";
import type { Server } from "./server/server";

interface ChangedTurn {
  readonly turnId: string;
  readonly sessionId: string;
}

interface Undone {
  readonly restored: readonly string[];
  readonly kept: readonly { readonly uri: string; readonly reason: string }[];
}

export class Undo {
  /** As they ended. */
  private readonly changed: ChangedTurn[] = [];
  private readonly undone = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly running: RunningTurns,
  ) {
    server.state.on("update", ({ params: { update, turnId, sessionId } }) => {
      if (update.kind === "end" && Array.isArray(update["edits"]) && update["edits"].length > 0) {
        this.changed.push({ turnId, sessionId });
      }
    });
  }

  /** The last turn that changed something; called again, the one before it. */
  async last(): Promise<void> {
    if (this.running.isRunning(this.server.state.sessionId)) {
      throw new Error('a turn is still running: end it by "Tark: Stop" before you take it back');
    }
    for (const turn of this.candidates()) {
      if (await this.turn(turn)) {
        return;
      }
    }
    void say("there is nothing to take back");
  }

  /** False: its edits were rejected, or were taken back otherwise. */
  async turn(turn: ChangedTurn): Promise<boolean> {
    const answer = await this.server.command<Undone>("tark.turn.undo", { turnId: turn.turnId });
    this.undone.add(turn.turnId);
    if (answer.restored.length + answer.kept.length === 0) {
      return false;
    }
    const restored = answer.restored.length > 0 ? [`took back ${this.called(turn)} in ${answer.restored.map(name).join(", ")}`] : [];
    const kept = answer.kept.map(({ uri, reason }) => `kept ${name(uri)}: ${reason}`);
    void (kept.length > 0 ? warn : say)([...restored, ...kept].join("; "));
    return true;
  }

  /** What ended while we looked on, then what the current session says of its past; the newest first. */
  private candidates(): ChangedTurn[] {
    const { sessionId, transcripts } = this.server.state;
    const past = sessionId === undefined ? [] : (transcripts.get(sessionId)?.turns ?? []);
    const told = past
      .filter((turn) => turn.state === "ended" && (turn.edits?.length ?? 0) > 0)
      .map(({ turnId }) => ({ turnId, sessionId: sessionId ?? "" }));
    const all = new Map([...this.changed.toReversed(), ...told.toReversed()].map((turn) => [turn.turnId, turn]));
    return [...all.values()].filter((turn) => !this.undone.has(turn.turnId));
  }

  private called({ turnId, sessionId }: ChangedTurn): string {
    const line = this.server.state.transcripts.get(sessionId)?.byId.get(turnId)?.prompt.split("\n", 1)[0] ?? "";
    return line === "" ? "the last turn" : `“${line.length > 40 ? `${line.slice(0, 39)}…` : line}”`;
  }
}

function name(uri: string): string {
  return vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
}
