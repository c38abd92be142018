/** Commands of the server that the lightbulb runs: they fail in words, and their turns are known as our own are. */

import { telling } from "../status/notify";
import type { Parts } from "../parts";
import type { StartedTurn } from "../model/protocol";

const START = "tark.turn.start";
const STARTING = new Set([START, "tark.hunk.regenerate"]);

interface Given {
  readonly prompt?: string;
  readonly kind?: string;
  readonly sessionId?: string;
  readonly askForPrompt?: boolean;
  /** Of a chat that is a document: it has a session of its own. */
  readonly chat?: boolean;
}

export function executed(
  parts: Parts,
  command: string,
  given: unknown[],
  next: (given: unknown[]) => Promise<unknown>,
): Promise<unknown> {
  return telling(async () => {
    const [argument = {}] = given as [Given?];
    if (!STARTING.has(command) || argument.chat === true) {
      return next(given);
    }
    const sessionId = argument.sessionId ?? parts.server.state.sessionId;
    const answer = await next(command === START ? [{ ...argument, sessionId }] : given);
    if (isTurn(answer)) {
      if (argument.askForPrompt === true) {
        parts.inputs.expect(answer.turnId); // the person wants the box now
      }
      if (answer.sessionId) {
        parts.turns.taken(sessionId, answer, argument.prompt ?? "", argument.kind);
      }
    }
    return answer;
  });
}

function isTurn(answer: unknown): answer is StartedTurn {
  return typeof (answer as StartedTurn | null)?.turnId === "string";
}
