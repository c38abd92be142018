/** How long tool calls have run, as far as it was seen here: waiting for the person does not count. Pure. */

import type { ToolCall } from "../model/transcriptTypes";

interface Run {
  ms: number;
  since?: number;
}

export class Durations {
  private readonly runs = new WeakMap<ToolCall, Run>();

  /** Called at each change of a call. */
  seen(call: ToolCall, now: number): void {
    const run = this.runs.get(call);
    if (call.status === "in_progress") {
      this.runs.set(call, { ms: run?.ms ?? 0, since: run?.since ?? now });
    } else if (run?.since !== undefined) {
      this.runs.set(call, { ms: run.ms + now - run.since });
    }
  }

  of(call: ToolCall): Readonly<Run> | undefined {
    return this.runs.get(call);
  }
}
