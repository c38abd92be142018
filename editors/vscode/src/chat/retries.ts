/** Tracks when failed turns can be tried again, and which ones are retried automatically because the user pressed "Wait". */

import type { Disposable } from "../model/events";
import type { Turn } from "../model/transcriptTurn";

interface Waiting {
  /** Milliseconds since 1970. */
  readonly at: number;
  timer?: NodeJS.Timeout | undefined;
}

export class Retries implements Disposable {
  private readonly waiting = new Map<string, Waiting>();

  /**
   * @param again sends the turn's prompt again
   * @param changed what `viewOf` returns for this turn has changed
   */
  constructor(
    private readonly again: (turnId: string) => void,
    private readonly changed: (turnId: string) => void,
    private readonly now: () => number = Date.now,
  ) {}

  /** Call this when a turn ends, to start the countdown. */
  recordEnd({ turnId, error }: Pick<Turn, "turnId" | "error">): void {
    if (error?.retryAfter !== undefined && !this.waiting.has(turnId)) {
      this.waiting.set(turnId, { at: this.now() + error.retryAfter * 1000 });
    }
  }

  /** Undefined: nothing is known, or the time is over. */
  viewOf(turnId: string): { readonly at: number; readonly waits: boolean } | undefined {
    const found = this.waiting.get(turnId);
    return found === undefined || found.at <= this.now() ? undefined : { at: found.at, waits: found.timer !== undefined };
  }

  /** The user pressed "Wait", or pressed it again to stop that. */
  toggleWait(turnId: string): void {
    const found = this.waiting.get(turnId);
    if (found === undefined) {
      return;
    }
    if (found.timer === undefined) {
      found.timer = setTimeout(() => {
        this.cancel(turnId);
        this.again(turnId);
      }, Math.max(0, found.at - this.now()));
    } else {
      clearTimeout(found.timer);
      found.timer = undefined;
    }
    this.changed(turnId);
  }

  /** The prompt was sent again. */
  cancel(turnId: string): void {
    clearTimeout(this.waiting.get(turnId)?.timer);
    this.waiting.delete(turnId);
    this.changed(turnId);
  }

  dispose(): void {
    for (const { timer } of this.waiting.values()) {
      clearTimeout(timer);
    }
  }
}
