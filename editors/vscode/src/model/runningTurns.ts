/** The turns of this server that run or are queued. Pure. */

import type { Disposable } from "./events";
import type { StartedTurn } from "./protocol";
import type { State } from "./state";

export interface RunningTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly queued: boolean;
  readonly startedAt: number;
}

export class RunningTurns {
  private readonly turns = new Map<string, RunningTurn>();
  /** A short turn can end before the command that started it is answered. */
  private readonly endedTurns = new Set<string>();
  private readonly listeners = new Set<() => void>();

  constructor(
    state: State,
    private readonly now: () => number = Date.now,
  ) {
    state.on("update", ({ params }) => {
      if (params.update.kind === "start") {
        this.addTurn(params);
      } else if (params.update.kind === "end") {
        this.endedTurns.add(params.turnId);
        this.turns.delete(params.turnId);
        this.notifyListeners();
      }
    });
    state.on("server", () => {
      this.turns.clear();
      this.endedTurns.clear();
      this.notifyListeners();
    });
  }

  get count(): number {
    return this.turns.size;
  }

  /** When the oldest turn started. */
  get oldestStart(): number | undefined {
    return this.count === 0 ? undefined : Math.min(...[...this.turns.values()].map((turn) => turn.startedAt));
  }

  /** Does a turn of this session run? A queued one does not count. */
  isRunning(sessionId: string | undefined): boolean {
    return [...this.turns.values()].some((turn) => turn.sessionId === sessionId && !turn.queued);
  }

  /** The server accepted or started a turn. */
  addTurn({ turnId, sessionId, queued }: StartedTurn): void {
    if (this.endedTurns.has(turnId)) {
      return;
    }
    this.turns.set(turnId, { turnId, sessionId, queued: queued != null, startedAt: this.now() });
    this.notifyListeners();
  }

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  private notifyListeners(): void {
    for (const listener of [...this.listeners]) {
      listener();
    }
  }
}
