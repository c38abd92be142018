/**
 * Records when each version of a request was first shown. A click right after that was meant for what was there before, so
 * it does not allow what has replaced it. Pure.
 */

const PAUSE_MS = 500;

export class SettledVersions {
  private readonly since = new Map<string, number>();

  constructor(private readonly now: () => number = Date.now) {}

  /** @param versions the versions that wait now; all others are forgotten */
  note(versions: readonly string[]): void {
    for (const known of [...this.since.keys()].filter((version) => !versions.includes(version))) {
      this.since.delete(known);
    }
    for (const version of versions.filter((candidate) => !this.since.has(candidate))) {
      this.since.set(version, this.now());
    }
  }

  isSettled(version: string): boolean {
    const since = this.since.get(version);
    return since !== undefined && this.now() - since >= PAUSE_MS;
  }
}
