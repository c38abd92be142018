/** Warnings about the server, with buttons that help. None of them takes the focus. */

import * as vscode from "vscode";
import { counted } from "../text/figures";
import { reportErrors, showInfo, showWarning } from "../window/notify";
import type { CompatibilityProblem } from "./compatibility";
import { type FoundServer, FROM_SETTING } from "./discovery";
import { approveProgram, isRefused, refuseProgram } from "./environment";
import { restartReason } from "./restartReason";

const SLOW_MS = 15_000;

export class ServerWarnings {
  private readonly offered = new Set<string>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.OutputChannel,
    private readonly restart: () => Promise<void>,
  ) {}

  /** Warns if the start takes long. `dispose` it when the server has started. */
  warnIfSlow(program: string): vscode.Disposable {
    const what = `${program} has not answered for ${SLOW_MS / 1000} s: is it tark-lsp?`;
    const timer = setTimeout(() => void this.offer(what, "Restart"), SLOW_MS);
    return { dispose: () => clearTimeout(timer) };
  }

  /**
   * Warns that the server does not fit the extension. Offers no other server if the user chose this one in the settings.
   */
  async warnIncompatible({ message: words, canReplaceServer: isServers }: CompatibilityProblem, { source: from }: FoundServer): Promise<void> {
    const cure = from === FROM_SETTING ? "Open Settings" : "Install Server";
    const choice = isServers ? await showWarning(words, cure) : await showWarning(words);
    if (choice === "Open Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "tark.server");
    } else if (choice === "Install Server") {
      await vscode.commands.executeCommand("tark.client.install");
    }
  }

  /** Asks once per window, and only in a trusted workspace, because the program would get the API keys. */
  async offerSkippedProgram(program: string): Promise<void> {
    if (!vscode.workspace.isTrusted || this.offered.has(program) || isRefused(this.context, program)) {
      return;
    }
    this.offered.add(program);
    const what = `${program} is part of this workspace and would get your API keys, so it does not run unless you allow it`;
    const choice = await showWarning(what, "Run It", "Never");
    if (choice === "Run It") {
      await approveProgram(this.context, program);
      await reportErrors(this.restart);
    } else if (choice === "Never") {
      await refuseProgram(this.context, program);
    }
  }

  /** Warns that a restart by the user interrupted turns. */
  warnCutTurns(turns: number): void {
    if (turns > 0) {
      void showWarning(`${counted(turns, "running turn")} ${turns === 1 ? "was" : "were"} interrupted`);
    }
  }

  /** Says why the server now runs with another configuration. */
  tellRestart(startedWith: string, wanted: string): void {
    const reason = restartReason(startedWith, wanted);
    if (reason !== undefined) {
      void showInfo(reason);
    }
  }

  /** See outage.ts. */
  warnEnded(message: string, isDown: boolean): void {
    void (isDown ? this.offer(message, "Restart") : this.offer(message));
  }

  private async offer(what: string, ...first: "Restart"[]): Promise<void> {
    const choice = await showWarning(what, ...first, "Show Output");
    if (choice === "Restart") {
      await reportErrors(this.restart);
    } else if (choice === "Show Output") {
      this.log.show(true);
    }
  }
}
