/** API keys: kept in VS Code's SecretStorage, by the name of the variable in which the server gets each. */

import type * as vscode from "vscode";

const PREFIX = "tark.key.";
const NAMES = "tark.keys"; // the storage does not say what it holds

export class Secrets {
  constructor(private readonly context: Pick<vscode.ExtensionContext, "secrets" | "globalState">) {}

  /** What is added to the environment of the server. */
  async environment(): Promise<Record<string, string>> {
    const found = await Promise.all(
      this.names().map(async (name) => [name, await this.context.secrets.get(PREFIX + name)] as const),
    );
    return Object.fromEntries(found.filter((each): each is readonly [string, string] => each[1] !== undefined));
  }

  names(): readonly string[] {
    return this.context.globalState.get<readonly string[]>(NAMES, []);
  }

  async store(variable: string, key: string): Promise<void> {
    await this.context.secrets.store(PREFIX + variable, key);
    await this.context.globalState.update(NAMES, [...new Set([...this.names(), variable])]);
  }

  async remove(variable: string): Promise<void> {
    await this.context.secrets.delete(PREFIX + variable);
    await this.context.globalState.update(
      NAMES,
      this.names().filter((name) => name !== variable),
    );
  }
}
