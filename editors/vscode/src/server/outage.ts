/** One message for each crash. It is shown when it is known whether the server runs again. Pure. */

import { counted } from "../text/figures";
import { ServerEndedError } from "../model/server";
import { MAX_ENDS } from "./restart";

export class Outage {
  /** How the server ended first. Undefined: there is nothing to report. */
  private how: string | undefined;
  private turns = 0;

  /** @param tell shows the message. `isDown`: the server does not run, so it gets a button that restarts it */
  constructor(private readonly tell: (message: string, isDown: boolean) => void) {}

  /** The server ended unexpectedly. `turns`: the number of interrupted turns. */
  serverEnded(how: string, turns: number): void {
    this.how ??= how;
    this.turns += turns;
  }

  /** A server runs, and has answered. */
  serverRuns(): void {
    this.close((ended) => `the server ended (${ended}; it was restarted`, false);
  }

  /** It ended too often. */
  staysDown(): void {
    this.close((ended) => `the server ended ${MAX_ENDS} times within a minute (${ended}; it is not restarted again`, true);
  }

  /** No server starts. Returns what to reject with: after a crash, the message has said it. */
  startFailed(problem: unknown, why: string): unknown {
    return this.close((ended) => `the server ended (${ended}; ${why}`, true) ? new ServerEndedError(why, { cause: problem }) : problem;
  }

  private close(words: (ended: string) => string, isDown: boolean): boolean {
    const { how, turns } = this;
    if (how === undefined) {
      return false;
    }
    this.how = undefined;
    this.turns = 0;
    const interrupted = turns === 0 ? "" : `, ${counted(turns, "turn")} ${turns === 1 ? "was" : "were"} interrupted`;
    this.tell(words(`${how})${interrupted}`), isDown);
    return true;
  }
}
