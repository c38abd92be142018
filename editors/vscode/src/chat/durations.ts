/** Measures how long tool calls run. Waiting for the user does not count. Pure. */

import type { ToolCall } from "../model/transcriptTurn";

interface Run {
  ms: number;
  since?: number;
}

export class Durations {
  private readonly runs = new WeakMap<ToolCall, Run>();

  /** Call this after each change of a call. */
  recordStatus(call: ToolCall, now: number): void {
    const run = this.runs.get(call);
    if (call.status === "in_progress") {
      this.runs.set(call, { ms: run?.ms ?? 0, since: run?.since ?? now });
    } else if (run?.since !== undefined) {
      this.runs.set(call, { ms: run.ms + now - run.since });
    }
  }

  durationOf(call: ToolCall): Readonly<Run> | undefined {
    return this.runs.get(call);
  }
}
