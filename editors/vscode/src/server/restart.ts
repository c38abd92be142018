/** Decides when a server that ended unexpectedly is restarted: a few times, each with a longer delay. Pure. */

const WITHIN_MS = 60_000;
const DELAYS_MS = [300, 3_000];
export const MAX_ENDS = DELAYS_MS.length + 1;

export class Restarts {
  private ends: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Call this when the server has ended. Returns the milliseconds until the restart. Undefined: the server stays down. */
  nextDelay(): number | undefined {
    const now = this.now();
    this.ends = [...this.ends.filter((at) => now - at < WITHIN_MS), now];
    return DELAYS_MS[this.ends.length - 1];
  }

  /** Call this when the user restarts the server. */
  reset(): void {
    this.ends = [];
  }
}
