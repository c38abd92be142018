/** Review of changes: marks, lenses, tree and diffs put together. (A stand-in: helper REVIEW writes it.) */

import type * as vscode from "vscode";
import type { Core } from "../parts";

export type Decision = "accept" | "reject";
/** `hunk`: at the cursor, or the one given. */
export type Scope = "hunk" | "file" | "all";

export class Review implements vscode.Disposable {
  constructor(
    readonly context: vscode.ExtensionContext,
    readonly core: Core,
  ) {}

  /** `target`: what a lens or a row of the tree hands over. */
  async decide(_decision: Decision, _scope: Scope, _target?: unknown): Promise<void> {
    // nothing yet
  }

  async go(_direction: "next" | "previous"): Promise<void> {
    // nothing yet
  }

  async diff(_target?: unknown): Promise<void> {
    // nothing yet
  }

  async regenerate(_target?: unknown): Promise<void> {
    // nothing yet
  }

  dispose(): void {
    // nothing yet
  }
}
