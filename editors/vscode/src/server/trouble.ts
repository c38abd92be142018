/** What the person is told, and offered, when the server does not do what it should. None of it takes the focus. */

import * as vscode from "vscode";
import { telling, warn } from "../notify";
import { MOST } from "./restart";

const SLOW_MS = 15_000;

export class Trouble {
  constructor(
    private readonly log: vscode.OutputChannel,
    private readonly restart: () => Promise<void>,
  ) {}

  /** It says so if the start takes long; `dispose` it when that is over. */
  slow(program: string): vscode.Disposable {
    const what = `${program} has not answered yet, for ${SLOW_MS / 1000} s: is it a tark-lsp?`;
    const timer = setTimeout(() => void this.offer(what), SLOW_MS);
    return { dispose: () => clearTimeout(timer) };
  }

  /** It speaks another contract than we do. */
  async contract(problem: string): Promise<void> {
    if (await warn(problem, "Install Server")) {
      await vscode.commands.executeCommand("tark.client.install");
    }
  }

  ended(how: string, turns: number, isStartedAgain: boolean): void {
    const cut = turns === 0 ? "" : turns === 1 ? ", 1 turn was cut" : `, ${turns} turns were cut`;
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
