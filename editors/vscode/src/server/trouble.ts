/** What the person is told, and offered, when the server does not do what it should. None of it takes the focus. */

import * as vscode from "vscode";
import { counted } from "../text/figures";
import { telling, warn } from "../status/notify";
import type { Problem } from "./contract";
import { type Found, SETTING } from "./discovery";
import { MOST } from "./restart";
import { agree, isRefused, refuse } from "./surroundings";

const SLOW_MS = 15_000;

export class Trouble {
  private readonly told = new Set<string>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.OutputChannel,
    private readonly restart: () => Promise<void>,
  ) {}

  /** It says so if the start takes long; `dispose` it when that is over. */
  slow(program: string): vscode.Disposable {
    const what = `${program} has not answered yet, for ${SLOW_MS / 1000} s: is it a tark-lsp?`;
    const timer = setTimeout(() => void this.offer(what, "Restart"), SLOW_MS);
    return { dispose: () => clearTimeout(timer) };
  }

  /** It speaks another contract than we do. What the person named in the settings no other one takes the place of. */
  async contract({ words, isServers }: Problem, { from }: Found): Promise<void> {
    const cure = from === SETTING ? "Open Settings" : "Install Server";
    const choice = isServers ? await warn(words, cure) : await warn(words);
    if (choice === "Open Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "tark.server");
    } else if (choice === "Install Server") {
      await vscode.commands.executeCommand("tark.client.install");
    }
  }

  /** Once in a window, where the workspace is trusted: it would get the keys. */
  async passedOver(program: string): Promise<void> {
    if (!vscode.workspace.isTrusted || this.told.has(program) || isRefused(this.context, program)) {
      return;
    }
    this.told.add(program);
    const what = `${program} is of this workspace, and would get your API keys: it is not run unless you want that`;
    const choice = await warn(what, "Run It", "Never");
    if (choice === "Run It") {
      await agree(this.context, program);
      await telling(this.restart);
    } else if (choice === "Never") {
      await refuse(this.context, program);
    }
  }

  /** By a start anew that the person wanted. */
  cut(turns: number): void {
    if (turns > 0) {
      void warn(`${counted(turns, "turn")} that ran ${turns === 1 ? "was" : "were"} cut`);
    }
  }

  ended(how: string, turns: number, isStartedAgain: boolean): void {
    const cut = turns === 0 ? "" : `, ${counted(turns, "turn")} ${turns === 1 ? "was" : "were"} cut`;
    if (isStartedAgain) {
      void warn(`the server ended (${how})${cut}; it is started again`);
    } else {
      void this.offer(`the server ended ${MOST} times within a minute (${how})${cut} and stays down`, "Restart");
    }
  }

  private async offer(what: string, ...first: "Restart"[]): Promise<void> {
    const choice = await warn(what, ...first, "Show Output");
    if (choice === "Restart") {
      await telling(this.restart);
    } else if (choice === "Show Output") {
      this.log.show(true);
    }
  }
}
