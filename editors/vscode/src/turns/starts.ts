/** Remembers how the latest turns were started, so that one that failed can be tried again. Pure. */

import type { StartedTurn } from "../model/protocol";

/** The argument of `tark.turn.start`. */
export interface TurnStart {
  readonly prompt: string;
  readonly kind?: string;
  readonly sessionId?: string;
  readonly [field: string]: unknown;
}

const MOST = 50;

export class TurnStarts {
  private readonly starts = new Map<string, TurnStart>();

  addStart({ turnId, sessionId }: StartedTurn, start: TurnStart): void {
    this.starts.set(turnId, { ...start, sessionId });
    for (const oldest of [...this.starts.keys()].slice(0, -MOST)) {
      this.starts.delete(oldest);
    }
  }

  /** The place is as it was when the turn was started. The server maps it to the current text. */
  startOf(turnId: string): TurnStart | undefined {
    return this.starts.get(turnId);
  }
}
