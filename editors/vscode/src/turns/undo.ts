/** Undoes the changes of turns, the last one first. */

import { counted } from "../text/figures";
import { showInfo, reportErrors, showWarning } from "../window/notify";
import type { Optional } from "../model/protocol";
import { plainExcerpt } from "../text/surfaces";
import { relativeName } from "../window/files";
import type { RunningTurns } from "../model/runningTurns";
import type { Server } from "../model/server";
import type { UndoAnswer } from "./redo";

/** The result of an attempt to undo a turn. */
interface Attempt {
  readonly message: string;
  /** Nothing of the turn is left to undo later. */
  readonly complete: boolean;
}

const LONGEST_PROMPT = 40; // characters
const BEFORE = "Undo Previous Turn";

export class Undo {
  /** Turns that changed something, in the order in which they ended. */
  private readonly changedTurns: { readonly sessionId: string; readonly turnId: string }[] = [];
  /** Turns that could not be undone completely, after which the user chose the turn before. */
  private readonly skipped = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly running: RunningTurns,
  ) {
    server.state.on("update", ({ params: { update, turnId, sessionId } }) => {
      if (update.kind === "end" && Array.isArray(update["edits"]) && update["edits"].length > 0) {
        this.changedTurns.push({ sessionId, turnId });
      }
    });
  }

  /**
   * Undoes the last turn that changed something. The next call undoes the turn before it, if nothing of the last is
   * left.
   */
  async undoLast(): Promise<void> {
    if (this.running.isRunning(this.server.state.sessionId)) {
      throw new Error('a turn is still running: stop it with "Tark: Stop" before you undo it');
    }
    for (const turnId of this.candidates()) {
      const attempt = await this.attempt(turnId);
      if (attempt?.complete === false) {
        void showWarning(attempt.message, BEFORE).then((before) => before && this.skipTurn(turnId));
      } else if (attempt) {
        void showInfo(attempt.message);
      }
      if (attempt) {
        return;
      }
    }
    void showInfo("there is nothing to undo");
  }

  /** Returns false if its edits were rejected or already undone. */
  async undoTurn(turnId: string): Promise<boolean> {
    const attempt = await this.attempt(turnId);
    if (attempt) {
      void (attempt.complete ? showInfo : showWarning)(attempt.message);
    }
    return attempt !== undefined;
  }

  private async skipTurn(turnId: string): Promise<void> {
    this.skipped.add(turnId);
    await reportErrors(() => this.undoLast());
  }

  /** Undefined: nothing of the turn is left to undo. */
  private async attempt(turnId: string): Promise<Attempt | undefined> {
    const answer = await this.server.executeCommand<Optional<UndoAnswer>>("tark.turn.undo", { turnId });
    if (answer == null) {
      return { message: "the turn is being undone", complete: true }; // a server that does not know this editor answers before it is done
    }
    const waiting = this.countUndecided(turnId);
    const parts = answer.kept.map(({ uri, reason }) => `kept ${relativeName(uri)}: ${reason}`);
    if (answer.restored.length > 0) {
      parts.unshift(`undid ${this.promptOf(turnId)} in ${answer.restored.map(relativeName).join(", ")}`);
    }
    if (waiting > 0) {
      parts.push(`${this.promptOf(turnId)}: ${counted(waiting, "change")} still wait${waiting === 1 ? "s" : ""} for your review`);
    }
    return parts.length === 0 ? undefined : { message: parts.join("; "), complete: answer.kept.length + waiting === 0 };
  }

  /** How many of its changes are not applied and wait for review. */
  private countUndecided(turnId: string): number {
    const hunks = [...this.server.state.hunks.values()].flatMap((document) => document.hunks);
    return hunks.filter((hunk) => hunk.turnId === turnId && !hunk.applied).length;
  }

  /**
   * The turns of the current session that can be undone, newest first: those that ended in this window, then those of
   * the transcript. Without a current session, the turns of all sessions. The server reports if a turn is already
   * undone.
   */
  private candidates(): string[] {
    const { sessionId, transcripts } = this.server.state;
    const past = sessionId === undefined ? [] : (transcripts.get(sessionId)?.turns ?? []);
    const recorded = past
      .filter((turn) => turn.state === "ended" && (turn.edits?.length ?? 0) > 0)
      .map(({ turnId }) => turnId);
    const seen = this.changedTurns.filter((turn) => sessionId === undefined || turn.sessionId === sessionId).map(({ turnId }) => turnId);
    const all = new Set([...seen.toReversed(), ...recorded.toReversed()]);
    return [...all].filter((turnId) => !this.skipped.has(turnId));
  }

  private promptOf(turnId: string): string {
    const known = [...this.server.state.transcripts.values()].map(({ byId }) => byId.get(turnId)?.prompt);
    const line = known.find((prompt) => prompt)?.split("\n", 1)[0] ?? "";
    return line === "" ? "the last turn" : `“${plainExcerpt(line, LONGEST_PROMPT)}”`;
  }
}
