/** API keys in VS Code's SecretStorage, by the environment variable in which the server gets them. */

import type * as vscode from "vscode";

const PREFIX = "tark.key.";
const NAMES = "tark.keys"; // SecretStorage cannot list its keys

export class Secrets {
  constructor(private readonly context: Pick<vscode.ExtensionContext, "secrets" | "globalState">) {}

  /** The variables that are added to the environment of the server. */
  async environment(): Promise<Record<string, string>> {
    const found = await Promise.all(
      this.storedNames().map(async (name) => [name, await this.context.secrets.get(PREFIX + name)] as const),
    );
    return Object.fromEntries(found.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
  }

  storedNames(): readonly string[] {
    return this.context.globalState.get<readonly string[]>(NAMES, []);
  }

  async storeKey(variable: string, key: string): Promise<void> {
    await this.context.secrets.store(PREFIX + variable, key);
    await this.context.globalState.update(NAMES, [...new Set([...this.storedNames(), variable])]);
  }

  async removeKey(variable: string): Promise<void> {
    await this.context.secrets.delete(PREFIX + variable);
    await this.context.globalState.update(
      NAMES,
      this.storedNames().filter((name) => name !== variable),
    );
  }
}
