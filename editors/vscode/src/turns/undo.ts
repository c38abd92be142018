/** Takes back what turns changed, the last one first. */

import { counted } from "../text/figures";
import { say, telling, warn } from "../status/notify";
import type { Optional } from "../model/protocol";
import { nameOf } from "../review/files";
import type { RunningTurns } from "../model/runningTurns";
import type { Server } from "../server/server";

interface Undone {
  readonly restored: readonly string[];
  readonly kept: readonly { readonly uri: string; readonly reason: string }[];
}

/** What is told of a turn that was tried. */
interface Attempt {
  readonly words: string;
  /** Nothing is left that could be taken back later. */
  readonly complete: boolean;
}

const BEFORE = "Undo the Turn Before";

export class Undo {
  /** Turns that changed something, as they ended. */
  private readonly changed: { readonly sessionId: string; readonly turnId: string }[] = [];
  /** Something of them could not be taken back, and the person went on to the turn before. */
  private readonly passed = new Set<string>();

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

  /** The last turn that changed something; called again, the one before it, once nothing of the last is left. */
  async last(): Promise<void> {
    if (this.running.isRunning(this.server.state.sessionId)) {
      throw new Error('a turn is still running: end it by "Tark: Stop" before you take it back');
    }
    for (const turnId of this.candidates()) {
      const attempt = await this.attempt(turnId);
      if (attempt?.complete === false) {
        void warn(attempt.words, BEFORE).then((before) => before && this.passing(turnId));
      } else if (attempt) {
        void say(attempt.words);
      }
      if (attempt) {
        return;
      }
    }
    void say("there is nothing to take back");
  }

  /** False: its edits were rejected, or were taken back otherwise. */
  async turn(turnId: string): Promise<boolean> {
    const attempt = await this.attempt(turnId);
    if (attempt) {
      void (attempt.complete ? say : warn)(attempt.words);
    }
    return attempt !== undefined;
  }

  private async passing(turnId: string): Promise<void> {
    this.passed.add(turnId);
    await telling(() => this.last());
  }

  /** Undefined: there is nothing of it to take back. */
  private async attempt(turnId: string): Promise<Attempt | undefined> {
    const answer = await this.server.command<Optional<Undone>>("tark.turn.undo", { turnId });
    if (answer == null) {
      return { words: "it is being taken back", complete: true }; // a server that does not know this editor answers early
    }
    const waiting = this.undecided(turnId);
    const parts = answer.kept.map(({ uri, reason }) => `kept ${nameOf(uri)}: ${reason}`);
    if (answer.restored.length > 0) {
      parts.unshift(`took back ${this.called(turnId)} in ${answer.restored.map(nameOf).join(", ")}`);
    }
    if (waiting > 0) {
      parts.push(`${this.called(turnId)}: ${counted(waiting, "change")} still wait${waiting === 1 ? "s" : ""} for your review`);
    }
    return parts.length === 0 ? undefined : { words: parts.join("; "), complete: answer.kept.length + waiting === 0 };
  }

  /** How many of its changes are not made, and wait for the person. */
  private undecided(turnId: string): number {
    const hunks = [...this.server.state.hunks.values()].flatMap((document) => document.hunks);
    return hunks.filter((hunk) => hunk.turnId === turnId && !hunk.applied).length;
  }

  /**
   * Of the current session: what ended while we looked on, then what it says of its past; the newest first. Where none is
   * current, what ended in any. One that is taken back already answers that nothing is left.
   */
  private candidates(): string[] {
    const { sessionId, transcripts } = this.server.state;
    const past = sessionId === undefined ? [] : (transcripts.get(sessionId)?.turns ?? []);
    const told = past
      .filter((turn) => turn.state === "ended" && (turn.edits?.length ?? 0) > 0)
      .map(({ turnId }) => turnId);
    const seen = this.changed.filter((each) => sessionId === undefined || each.sessionId === sessionId).map(({ turnId }) => turnId);
    const all = new Set([...seen.toReversed(), ...told.toReversed()]);
    return [...all].filter((turnId) => !this.passed.has(turnId));
  }

  private called(turnId: string): string {
    const known = [...this.server.state.transcripts.values()].map(({ byId }) => byId.get(turnId)?.prompt);
    const line = known.find((prompt) => prompt)?.split("\n", 1)[0] ?? "";
    return line === "" ? "the last turn" : `“${line.length > 40 ? `${line.slice(0, 39)}…` : line}”`;
  }
}
