/** The turns that run or wait now, as far as this server has told of them. Pure. */

import type { Disposable } from "./events";
import type { StartedTurn } from "./protocol";
import type { State } from "./state";

export interface RunningTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly queued: boolean;
  readonly began: number;
}

export class RunningTurns {
  private readonly turns = new Map<string, RunningTurn>();
  /** Short ones end before the command that began them is answered. */
  private readonly over = new Set<string>();
  private readonly listeners = new Set<() => void>();

  constructor(
    state: State,
    private readonly now: () => number = Date.now,
  ) {
    state.on("update", ({ params }) => {
      if (params.update.kind === "start") {
        this.started(params);
      } else if (params.update.kind === "end") {
        this.over.add(params.turnId);
        this.turns.delete(params.turnId);
        this.changed();
      }
    });
    state.on("server", () => {
      this.turns.clear();
      this.over.clear();
      this.changed();
    });
  }

  get count(): number {
    return this.turns.size;
  }

  /** When the oldest began. */
  get began(): number | undefined {
    return this.count === 0 ? undefined : Math.min(...[...this.turns.values()].map((turn) => turn.began));
  }

  /** Of a session that runs, not of one that waits. */
  isRunning(sessionId: string | undefined): boolean {
    return [...this.turns.values()].some((turn) => turn.sessionId === sessionId && !turn.queued);
  }

  /** The server took it, or began it. */
  started({ turnId, sessionId, queued }: StartedTurn): void {
    if (this.over.has(turnId)) {
      return;
    }
    this.turns.set(turnId, { turnId, sessionId, queued: queued != null, began: this.now() });
    this.changed();
  }

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  private changed(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }
}
