/** Commands of the server that the lightbulb runs: they fail in words, and their turns are known as our own are. */

import { telling } from "./notify";
import type { Parts } from "./parts";
import type { StartedTurn } from "./protocol";

const STARTING = new Set(["tark.turn.start", "tark.hunk.regenerate"]);

interface Given {
  readonly prompt?: string;
  readonly sessionId?: string;
  readonly askForPrompt?: boolean;
}

export function executed(parts: Parts, command: string, given: unknown[], next: () => Promise<unknown>): Promise<unknown> {
  return telling(async () => {
    const answer = await next();
    if (STARTING.has(command) && isTurn(answer)) {
      const { prompt = "", sessionId, askForPrompt = false } = (given[0] ?? {}) as Given;
      if (askForPrompt) {
        parts.inputs.expect(answer.turnId); // the person wants the box now
      }
      if (answer.sessionId) {
        parts.turns.taken(sessionId, answer, prompt);
      }
    }
    return answer;
  });
}

function isTurn(answer: unknown): answer is StartedTurn {
  return typeof (answer as StartedTurn | null)?.turnId === "string";
}
