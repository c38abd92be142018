/** The language client: started, spoken to, and started again. */

import type * as vscode from "vscode";
import type { State } from "../state";
import type { Server } from "./server";

export class Client implements Server, vscode.Disposable {
  readonly running = false;

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly state: State,
  ) {}

  ensure(): Promise<void> {
    return Promise.reject(new Error("no server yet"));
  }

  async command<T>(name: string, _argument: object = {}): Promise<T> {
    await this.ensure();
    throw new Error(name);
  }

  dispose(): void {
    // nothing yet
  }
}
