/** Permissions that wait are shown and answered here. (A stand-in: helper REVIEW writes it.) */

import type * as vscode from "vscode";
import type { Core } from "./parts";

export class Permissions implements vscode.Disposable {
  constructor(
    readonly context: vscode.ExtensionContext,
    readonly core: Core,
  ) {}

  /** Goes to what waits, to answer it; without an id to the oldest, or to one that is chosen. */
  async show(_requestId?: string): Promise<void> {
    // nothing yet
  }

  dispose(): void {
    // nothing yet
  }
}
