/** Whether a provider accepts its key, and a sentence about it. Pure. */

import { providerName } from "../text/providerNames";
import type { Optional } from "./protocol";

/** The answer of `tark.auth.check`. */
export interface KeyCheck {
  readonly result: "accepted" | "refused" | "unchecked";
  readonly message: string;
  readonly model?: Optional<string>;
}

const SENTENCES: Readonly<Record<KeyCheck["result"], string>> = {
  accepted: "{provider} accepts the API key.",
  refused: "{provider} does not accept this key. It was not saved.",
  unchecked: "The key of {provider} is saved, but not checked.",
};

export function keySentence(provider: string, result: KeyCheck["result"]): string {
  return SENTENCES[result].replace("{provider}", () => providerName(provider));
}
