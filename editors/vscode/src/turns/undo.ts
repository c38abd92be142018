/** Undoes the changes of turns, the last one first. */

import { showInfo, reportErrors, showWarning } from "../window/notify";
import type { Optional } from "../model/protocol";
import { relativeName } from "../window/files";
import type { RunningTurns } from "../model/runningTurns";
import type { Server } from "../model/server";
import { describeOutcome, type Outcome, outcomeLevel, promptOf, sessionOf, type UndoAnswer } from "./undoOutcome";

const BEFORE = "Undo Previous Turn";

export class Undo {
  /** Turns that changed something, in the order in which they ended. */
  private readonly changedTurns: { readonly sessionId: string; readonly turnId: string }[] = [];
  /** Turns that could not be undone completely, after which the user chose the turn before. */
  private readonly skipped = new Set<string>();

  /** `shows`: a visible chat shows this session. */
  constructor(
    private readonly server: Server,
    private readonly running: RunningTurns,
    private readonly shows: (sessionId: string) => boolean,
  ) {
    server.state.on("update", ({ params: { update, turnId, sessionId } }) => {
      if (update.kind === "end" && [update["edits"], update["changedByCommand"]].some((list) => Array.isArray(list) && list.length > 0)) {
        this.changedTurns.push({ sessionId, turnId });
      }
    });
  }

  /**
   * Undoes the last turn that changed something. The next call undoes the turn before it, if nothing is left of the last
   * turn.
   */
  async undoLast(): Promise<void> {
    if (this.running.isRunning(this.server.state.sessionId)) {
      throw new Error('a turn is still running: stop it with "Tark: Stop" before you undo it');
    }
    for (const turnId of this.candidates()) {
      const attempt = await this.attempt(turnId);
      if (attempt) {
        const isShown = this.shows(sessionOf(this.server.state, turnId));
        void showOutcome(attempt, isShown, BEFORE).then((before) => (before === BEFORE ? this.skipTurn(turnId) : undefined));
        return;
      }
    }
    void showInfo("there is nothing to undo");
  }

  /** Undoes a turn for its button in the chat. Returns false if its edits were rejected or already undone. */
  async undoTurn(turnId: string): Promise<boolean> {
    const attempt = await this.attempt(turnId);
    if (attempt) {
      void showOutcome(attempt, true);
    }
    return attempt !== undefined;
  }

  private async skipTurn(turnId: string): Promise<void> {
    this.skipped.add(turnId);
    await reportErrors(() => this.undoLast());
  }

  /** Undefined: nothing of the turn is left to undo. */
  private async attempt(turnId: string): Promise<Outcome | undefined> {
    const answer = await this.server.executeCommand<Optional<UndoAnswer>>("tark.turn.undo", { turnId });
    if (answer == null) {
      return { message: "the turn is being undone", complete: true }; // a server that does not know this editor answers before it is done
    }
    const prompt = promptOf(this.server.state, turnId);
    return describeOutcome({ ...answer, verb: "undid", prompt, waiting: this.countUndecided(turnId) }, relativeName);
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
      .filter((turn) => turn.state === "ended" && (turn.edits?.length ?? 0) + (turn.changedByCommand?.length ?? 0) > 0)
      .map(({ turnId }) => turnId);
    const seen = this.changedTurns.filter((turn) => sessionId === undefined || turn.sessionId === sessionId).map(({ turnId }) => turnId);
    const all = new Set([...seen.toReversed(), ...recorded.toReversed()]);
    return [...all].filter((turnId) => !this.skipped.has(turnId));
  }
}

/** Shows what undo or redo did, unless a visible chat does. Resolves with `more` if it is pressed: a button if something was left out. */
export async function showOutcome(outcome: Outcome, isShown: boolean, more?: string): Promise<string | undefined> {
  const level = outcomeLevel(outcome, isShown);
  if (level === "warning") {
    return showWarning(outcome.message, ...(more === undefined ? [] : [more]));
  }
  return level === undefined ? undefined : showInfo(outcome.message);
}
