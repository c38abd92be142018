/** Converts the server's answers to the rows of the setup card. Pure. */

import { type KeyCheck, keySentence } from "../model/keyCheck";
import type { Optional } from "../model/protocol";
import type { SetupOffer, SetupView } from "../model/setup";
import { providerName } from "../text/providerNames";

/** A provider in the answer of `tark.auth.status`. */
export interface ProviderStatus {
  readonly provider: string;
  readonly status: string;
  readonly source?: Optional<string>;
  readonly hint?: Optional<string>;
  /** Environment variables: the first one that is set has the key. */
  readonly variables?: readonly string[];
  /** Can the user log in with a code? */
  readonly login?: boolean;
}

const FIRST = ["anthropic", "openai", "gemini", "openrouter", "copilot"]; // as the server looks for a default
const MOST_FOUND = 3;

/** `stored`: the variables whose keys VS Code keeps. `local`: the model of a local server that answers. */
export function modelOffers(providers: readonly ProviderStatus[], stored: readonly string[], local: string | undefined): SetupOffer[] {
  const ready = providers.filter(({ status }) => status === "ready").sort((one, other) => rank(one) - rank(other));
  const copilot = providers.find(({ provider, status }) => provider === "copilot" && status !== "ready");
  const found = ready.slice(0, MOST_FOUND).map((provider) => ({
    id: `use:${provider.provider}`,
    label: `Use ${providerName(provider.provider)}`,
    note: sourceWords(provider, stored),
  }));
  const own = local === undefined ? [] : [{ id: "use:ollama", label: "Use Ollama", note: `${local.slice(local.indexOf("/") + 1)}, on this machine` }];
  return [
    ...found.filter(({ id }) => own.length === 0 || id !== "use:ollama"),
    ...own,
    { id: "paste", label: "Paste API Key…", note: "Of Anthropic, OpenAI, Gemini, OpenRouter or others" },
    ...(copilot?.login === true ? [{ id: "copilot", label: "Log In to Copilot", ...(copilot.status === "pending" && { note: "Waiting for you to enter the code" }) }] : []),
    { id: "demo", label: "Try the Demo", note: "No key: a script plays the model, in a new window" },
    ...(copilot?.login === false ? [{ id: "copilotHelp", label: "Set Up Copilot", isLink: true }] : []),
  ];
}

function sourceWords({ source, variables = [] }: ProviderStatus, stored: readonly string[]): string {
  const variable = variables.find((name) => name === source);
  return variable === undefined ? `Key from ${source ?? "your settings"}` : stored.includes(variable) ? "Key stored in VS Code" : `Key found in ${variable}`;
}

/** The order of providers in the setup card and in lists. */
export function rank({ provider }: ProviderStatus): number {
  const index = FIRST.indexOf(provider);
  return index < 0 ? FIRST.length : index;
}

/** The message about a checked key. Undefined: there is nothing to say. */
export function checkWords(provider: string, { result, message, model }: KeyCheck): SetupView["said"] {
  if (result !== "accepted") {
    return { words: keySentence(provider, result), details: message };
  }
  return model == null ? { words: `${providerName(provider)} lists no model.`, details: message } : undefined;
}

export const TRY_AGAIN = "Try Again";

/** The message after a key was set with the command. A refused key can be entered again. */
export function keyMessage(provider: string, check: KeyCheck): { readonly words: string; readonly isProblem: boolean; readonly buttons: (typeof TRY_AGAIN)[] } {
  const said = checkWords(provider, check);
  if (said === undefined || check.result === "refused") {
    const isRefused = said !== undefined;
    return { words: keySentence(provider, check.result), isProblem: isRefused, buttons: isRefused ? [TRY_AGAIN] : [] };
  }
  return { words: said.details === "" ? said.words : `${said.words.replace(/\.$/, "")}: ${said.details}`, isProblem: true, buttons: [] };
}

/** `problem`: why no server runs. `isMissing`: none was found, so one can be installed. */
export function serverView(problem: string, isMissing: boolean): SetupView {
  const output = { id: "output", label: "Show Output" };
  return isMissing
    ? {
        title: "Install the server",
        words: "Tark works with a language server, tark-lsp. It was not found on this machine.",
        isProblem: true,
        said: { words: "", details: problem },
        offers: [{ id: "install", label: "Install Server", note: "Needs Python 3.11 or newer" }, output],
      }
    : {
        title: "The server is not running",
        words: "Tark works with a language server, which did not start.",
        isProblem: true,
        said: { words: "", details: problem },
        offers: [{ id: "start", label: "Start Server" }, output],
      };
}
