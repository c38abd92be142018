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

  /** Its place is that of the time when it was started: the server carries it forward. */
  startOf(turnId: string): TurnStart | undefined {
    return this.starts.get(turnId);
  }
}
