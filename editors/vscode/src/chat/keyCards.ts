/**
 * Tracks the key that a failed turn needs. The card of the turn shows what became of the key. If the user set the key from
 * that card, the prompt is sent again.
 */

import type { Disposable } from "../model/events";
import type { KeyCheck } from "../model/keyCheck";
import type { Place } from "../model/place";
import type { State } from "../model/state";
import type { Turn } from "../model/transcriptTurn";
import { turnProblem } from "../model/turnProblems";

export class KeyCards implements Disposable {
  private readonly checks = new Map<string, KeyCheck>(); // by turn
  private wanted: string | undefined; // the turn from whose card the user sets a key
  private readonly listening: Disposable;

  /**
   * @param again sends the turn's prompt again, or continues the turn
   * @param changed what `checkOf` returns for this turn has changed
   */
  constructor(
    private readonly state: State,
    private readonly place: Place,
    private readonly again: (turnId: string, how: "retry" | "continue") => void,
    private readonly changed: (turnId: string) => void,
  ) {
    this.listening = state.on("key", ({ provider, check }) => this.keyChecked(provider, check));
  }

  /** The last check of a key for this turn. Undefined: no key was set since the turn failed. */
  checkOf(turnId: string): KeyCheck | undefined {
    return this.checks.get(turnId);
  }

  /** The user pressed "Set API Key". `setKey` resolves with undefined if no key was entered. */
  async setKey(turnId: string, setKey: () => PromiseLike<unknown>): Promise<void> {
    this.wanted = turnId;
    if ((await setKey()) === undefined && this.wanted === turnId) {
      this.wanted = undefined;
    }
  }

  dispose(): void {
    this.listening.dispose();
  }

  /** Only the last turn counts: the cards of earlier turns have no buttons. */
  private keyChecked(provider: string, check: KeyCheck): void {
    const turn = this.state.transcripts.get(this.place.sessionId ?? "")?.turns.at(-1);
    if (turn === undefined || !needsKey(turn, provider)) {
      return;
    }
    const { turnId } = turn;
    this.checks.set(turnId, check);
    this.changed(turnId);
    if (check.result === "accepted" && this.wanted === turnId) {
      this.wanted = undefined;
      this.again(turnId, turn.calls.size > 0 ? "continue" : "retry");
      this.state.emit("reveal", undefined); // focuses the prompt
    }
  }
}

/** Did the turn fail for the key of this provider? */
function needsKey({ state, stopReason, error, model }: Turn, provider: string): boolean {
  const remedies = turnProblem(stopReason, error?.code, model)?.remedies ?? [];
  return state === "ended" && remedies.includes("setKey") && model?.split("/", 1)[0] === provider;
}
