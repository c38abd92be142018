/** How often a server that ends against its will is started again: a few times, each later, and then not any more. Pure. */

const WITHIN_MS = 60_000;
const DELAYS_MS = [300, 3_000];
export const MOST = DELAYS_MS.length + 1;

export class Restarts {
  private ends: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** The server ended: after how many ms it is to be started again. Undefined: it stays down. */
  ended(): number | undefined {
    const now = this.now();
    this.ends = [...this.ends.filter((at) => now - at < WITHIN_MS), now];
    return DELAYS_MS[this.ends.length - 1];
  }

  /** The person wants it started. */
  forget(): void {
    this.ends = [];
  }
}
