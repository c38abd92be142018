/** Asks for an API key, stores it, and checks it. It goes from the input box to the secret storage, and nowhere else. */

import * as vscode from "vscode";
import type { KeyCheck } from "../model/keyCheck";
import type { RunningTurns } from "../model/runningTurns";
import type { Client } from "../server/client";
import type { Secrets } from "../server/secrets";
import { errorMessage } from "../window/notify";
import { inputPrompt, plainLine } from "../text/surfaces";
import { providerName } from "../text/providerNames";
import type { ProviderStatus } from "./offers";

export interface KeyParts {
  readonly client: Client;
  readonly secrets: Secrets;
  readonly runningTurns: RunningTurns;
}

/** Undefined: the user left the box. */
export async function askForKey({ provider, variables }: ProviderStatus): Promise<string | undefined> {
  if (variables?.[0] === undefined) {
    throw new Error(`set apiKeyEnv of ${provider} in the setting tark.providers first: it names the environment variable for the key`);
  }
  const key = await vscode.window.showInputBox({
    title: plainLine(`API Key of ${providerName(provider)}`),
    prompt: inputPrompt(`VS Code stores it and passes it to the server as ${variables[0]}.`),
    password: true,
    ignoreFocusOut: true,
    validateInput: (typed) => (/[\s\p{Cc}]/u.test(typed.trim()) ? "A key cannot contain spaces" : undefined),
  });
  return key?.trim() === "" ? undefined : key?.trim();
}

/** Stores and checks the key. A refused key is replaced by the previous key. The chats are notified of the check. */
export async function storeAndCheck(parts: KeyParts, status: ProviderStatus, key: string): Promise<KeyCheck> {
  const check = await storeThenCheck(parts, status, key);
  parts.client.state.emit("key", { provider: status.provider, check });
  return check;
}

async function storeThenCheck({ client, secrets, runningTurns }: KeyParts, { provider, variables }: ProviderStatus, key: string): Promise<KeyCheck> {
  const variable = variables![0]!;
  const { [variable]: former } = await secrets.environment();
  await secrets.storeKey(variable, key);
  if (runningTurns.count > 0) {
    return { result: "unchecked", message: "a turn is running: the server gets the key at its end" };
  }
  await client.restart();
  const found = await checkProvider(client, provider);
  if (found.result === "refused") {
    await (former === undefined ? secrets.removeKey(variable) : secrets.storeKey(variable, former));
    await client.restart();
  }
  return found;
}

/** Asks the provider whether it accepts its current key. */
export async function checkProvider(client: Client, provider: string): Promise<KeyCheck> {
  try {
    return await client.executeCommand<KeyCheck>("tark.auth.check", { provider });
  } catch (problem) {
    return { result: "unchecked", message: errorMessage(problem) };
  }
}
