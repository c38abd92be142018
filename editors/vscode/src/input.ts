/** Questions of the model that wait are shown and answered here. (A stand-in: helper REVIEW writes it.) */

import type * as vscode from "vscode";
import type { Core } from "./parts";

export class Inputs implements vscode.Disposable {
  constructor(
    readonly context: vscode.ExtensionContext,
    readonly core: Core,
  ) {}

  async show(_requestId?: string): Promise<void> {
    // nothing yet
  }

  dispose(): void {
    // nothing yet
  }
}
