/**
 * What went wrong in a turn: one sentence for each error code and stop reason of docs/protocol.md, and the buttons that
 * help. Pure.
 */

import { type KeyCheck, keySentence } from "./keyCheck";
import { providerName } from "../text/providerNames";
import { sentenceCase } from "../text/serverWords";

/** `again`: the same prompt, or "Continue." if the turn has done something. */
export type Remedy = "again" | "continue" | "setKey" | "chooseModel" | "newSession" | "settings" | "output";

/** The words of the buttons. */
export const REMEDY_LABELS: Readonly<Record<Remedy, string>> = {
  again: "Retry",
  continue: "Continue",
  setKey: "Set API Key",
  chooseModel: "Select Model",
  newSession: "New Session",
  settings: "Open Settings",
  output: "Show Output",
};

export interface TurnProblem {
  readonly sentence: string;
  /** The first is the main button. */
  readonly remedies: readonly Remedy[];
}

type Row = readonly [sentence: string, ...remedies: Remedy[]];

/** `{provider}` and `{model}` are replaced. */
const BY_CODE: Readonly<Record<string, Row>> = {
  no_model: ["No model is set up.", "chooseModel", "setKey", "again"],
  missing_key: ["There is no key for {provider}.", "setKey", "chooseModel", "again"],
  authentication: ["{provider} does not accept the key.", "setKey", "chooseModel", "again"],
  quota: ["The account at {provider} has no credit left.", "chooseModel", "setKey", "again"],
  rate_limited: ["{provider} got too many requests.", "again", "chooseModel"],
  overloaded: ["{provider} is overloaded.", "again", "chooseModel"],
  server_error: ["{provider} has a problem.", "again", "chooseModel"],
  connection: ["{provider} cannot be reached.", "again", "chooseModel"],
  timeout: ["{provider} did not answer in time.", "again", "chooseModel"],
  stream_cut: ["The answer broke off.", "again", "chooseModel"],
  protocol: ["The answer of {provider} could not be read.", "again", "chooseModel"],
  model_not_found: ["{provider} does not offer {model}.", "chooseModel", "again"],
  context_overflow: ["This is too long for {model}.", "newSession", "chooseModel"],
  bad_request: ["{provider} did not accept the request.", "again", "chooseModel"],
  model: ["{provider} has a problem.", "again", "chooseModel"],
  unsupported_option: ["{model} cannot do this.", "chooseModel", "again"],
  hook: ["A hook refused this turn.", "settings", "again"],
  settings: ["A setting is wrong.", "settings", "again"],
  interrupted: ["The server ended while this turn ran.", "again"],
  invalid_params: ["Tark could not do this.", "again"],
  internal: ["Something went wrong in Tark.", "again", "output"],
};
const OTHER: Row = ["Tark could not do this.", "again"];

const BY_STOP: Readonly<Record<string, Row>> = {
  max_tokens: ["The answer was cut off: it reached the model's output limit.", "continue"],
  max_turn_requests: ["The turn stopped at its limit of requests.", "continue"],
  budget: ["The turn stopped at its cost limit.", "continue"],
  refusal: ["The model refused to answer.", "chooseModel"],
};

const WITH_KEY: readonly Remedy[] = ["again", "setKey", "chooseModel"];

/**
 * The problem after the user has set the key that the turn needed: what became of the key, and the buttons. `model`: as
 * `provider/model`.
 */
export function problemWithKey({ remedies }: TurnProblem, model: string, result: KeyCheck["result"]): TurnProblem {
  return { sentence: keySentence(model.split("/", 1)[0]!, result), remedies: result === "refused" ? remedies : WITH_KEY };
}

/** Undefined: nothing went wrong. `model`: as `provider/model`, if it is known. */
export function turnProblem(stopReason: string | undefined, code: string | undefined, model = ""): TurnProblem | undefined {
  const row = code !== undefined ? (BY_CODE[code] ?? OTHER) : BY_STOP[stopReason ?? ""];
  if (row === undefined) {
    return undefined;
  }
  const [sentence, ...remedies] = row;
  const provider = model.includes("/") ? providerName(model.split("/", 1)[0]!) : "the provider";
  const name = model.slice(model.indexOf("/") + 1) || "the model";
  const filled = sentence.replace("{provider}", provider).replace("{model}", name);
  return { sentence: sentenceCase(filled), remedies };
}
