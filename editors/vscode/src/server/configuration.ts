/** Reads the current settings of the server, and reports changes of the settings, the keys and workspace trust. */

import * as vscode from "vscode";
import type { RunningTurns } from "../model/runningTurns";
import type { Secrets } from "./secrets";
import { demoOfWindow } from "./demo";
import { type Inspect, type Manifest, otherSettings, type ServerSettings, serverSettings, userSettings } from "./settings";

const SETTLED_MS = 500; // after the last of several changes

/** The configuration a server is started with. A change needs a restart. */
export interface StartConfiguration {
  readonly options: Record<string, unknown>;
  readonly keys: Readonly<Record<string, string>>;
  /** The setting `tark.server.command`. */
  readonly command: unknown;
}

export class Configuration implements vscode.Disposable {
  private readonly settings: ServerSettings;
  private readonly listening: readonly { dispose(): void }[];
  private settling: NodeJS.Timeout | undefined;

  /**
   * `onChange` is called when something might have changed, and when turns start or end, since a restart can wait for
   * that.
   */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly secrets: Secrets,
    turns: RunningTurns,
    private readonly onChange: () => void,
  ) {
    this.settings = serverSettings(context.extension.packageJSON as Manifest);
    this.listening = [
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("tark") && this.scheduleChange()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.scheduleChange()),
      context.secrets.onDidChange(() => this.scheduleChange()),
      turns.onChange(() => this.scheduleChange()),
    ];
  }

  async startConfiguration(): Promise<StartConfiguration> {
    return {
      options: { ...userSettings(this.settings, inspect(), vscode.workspace.isTrusted), ...demoOfWindow(this.context)?.settings },
      keys: await this.secrets.environment(),
      command: inspect()("server.command")?.globalValue,
    };
  }

  /** The settings that a running server accepts. */
  liveSettings(): Record<string, unknown> {
    return otherSettings(this.settings, inspect());
  }

  dispose(): void {
    clearTimeout(this.settling);
    for (const listener of this.listening) {
      listener.dispose();
    }
  }

  private scheduleChange(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(this.onChange, SETTLED_MS);
  }
}

function inspect(): Inspect {
  const configuration = vscode.workspace.getConfiguration("tark");
  return (key) => configuration.inspect(key);
}
