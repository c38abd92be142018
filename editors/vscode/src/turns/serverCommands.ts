/** Runs server commands of code actions: reports their errors, and records the turns they start. */

import { reportErrors } from "../window/notify";
import type { State } from "../model/state";
import type { StartedTurn } from "../model/protocol";
import type { Turns } from "./turns";

const START = "tark.turn.start";
const STARTING = new Set([START, "tark.hunk.regenerate"]);

interface StartArgument {
  readonly prompt?: string;
  readonly kind?: string;
  readonly sessionId?: string;
  readonly askForPrompt?: boolean;
  /** A chat in a document, which has its own session. */
  readonly chat?: boolean;
}

interface Context {
  readonly state: State;
  readonly turns: Turns;
  readonly inputs: { expectInput(turnId: string): void };
}

export function runServerCommand(
  { state, turns, inputs }: Context,
  command: string,
  given: unknown[],
  next: (given: unknown[]) => Promise<unknown>,
): Promise<unknown> {
  return reportErrors(async () => {
    const [argument = {}] = given as [StartArgument?];
    if (!STARTING.has(command) || argument.chat === true) {
      return next(given);
    }
    const { place } = state;
    const { visit } = place;
    const sessionId = argument.sessionId ?? place.sessionId;
    const answer = await next(command === START ? [{ ...argument, sessionId }] : given);
    if (isTurn(answer)) {
      if (argument.askForPrompt === true) {
        inputs.expectInput(answer.turnId); // the user expects the input box now
      }
      if (answer.sessionId) {
        turns.turnAccepted({ place, visit }, sessionId, answer, argument.prompt ?? "", argument.kind);
      }
    }
    return answer;
  });
}

function isTurn(answer: unknown): answer is StartedTurn {
  return typeof (answer as StartedTurn | null)?.turnId === "string";
}
