/** The settings of the server as they are now, and word of when they, the keys or the trust in the workspace change. */

import * as vscode from "vscode";
import type { RunningTurns } from "../model/runningTurns";
import type { Secrets } from "./secrets";
import { type Inspect, otherSettings, userSettings } from "./settings";

const SETTLED_MS = 500; // after the last of several changes

/** What a server is started with: for another one another server is needed. */
export interface Beginning {
  readonly options: Record<string, unknown>;
  readonly keys: Readonly<Record<string, string>>;
  /** The setting `tark.server.command`. */
  readonly command: unknown;
}

export class Configuration implements vscode.Disposable {
  private readonly listening: readonly { dispose(): void }[];
  private settling: NodeJS.Timeout | undefined;

  /** `changed` is told when something may be different, and when turns begin and end: a restart may wait for that. */
  constructor(
    context: vscode.ExtensionContext,
    private readonly secrets: Secrets,
    turns: RunningTurns,
    private readonly changed: () => void,
  ) {
    this.listening = [
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("tark") && this.soon()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.soon()),
      context.secrets.onDidChange(() => this.soon()),
      turns.onChange(() => this.soon()),
    ];
  }

  async beginning(): Promise<Beginning> {
    return {
      options: userSettings(inspect(), vscode.workspace.isTrusted),
      keys: await this.secrets.environment(),
      command: inspect()("server.command")?.globalValue,
    };
  }

  /** Those that a running server can be told. */
  others(): Record<string, unknown> {
    return otherSettings(inspect());
  }

  dispose(): void {
    clearTimeout(this.settling);
    for (const each of this.listening) {
      each.dispose();
    }
  }

  private soon(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(this.changed, SETTLED_MS);
  }
}

function inspect(): Inspect {
  const configuration = vscode.workspace.getConfiguration("tark");
  return (key) => configuration.inspect(key);
}
