/** Sends commands, requests and notifications to the running server. */

import * as vscode from "vscode";
import { errorMessage } from "../window/notify";
import { ServerEndedError } from "../model/server";
import type { RunningServer } from "./launch";

const ENDED = "the server has ended";
/** The codes of vscode-jsonrpc and of the language client for a connection that has ended. */
const CONNECTION_ENDED = new Set<unknown>([1, 2, -32096, -32097, -32099]);

/** `current` returns the running server, if there is one. */
export class Calls {
  constructor(
    private readonly current: () => RunningServer | undefined,
    private readonly log: (line: string) => void,
  ) {}

  async executeCommand<T>(name: string, argument: object, signal?: AbortSignal): Promise<T> {
    const server = this.current();
    const commands = server?.client.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    if (server !== undefined && !commands.includes(name)) {
      throw new Error(`the server does not know ${name}, so it may be out of date: run "Tark: Install Server"`);
    }
    return this.sendRequest<T>("workspace/executeCommand", { command: name, arguments: [argument] }, signal);
  }

  /** `signal` cancels the request. */
  async sendRequest<T>(method: string, params: object, signal?: AbortSignal): Promise<T> {
    const server = this.current();
    if (server === undefined) {
      throw new ServerEndedError(ENDED);
    }
    try {
      const cancellation = signal === undefined ? [] : [tokenOf(signal)]; // undefined would be sent as a parameter
      return await server.client.sendRequest<T>(method, params, ...cancellation);
    } catch (problem) {
      const hasEnded = this.current() !== server || CONNECTION_ENDED.has((problem as { code?: unknown } | undefined)?.code);
      throw hasEnded ? new ServerEndedError(ENDED, { cause: problem }) : problem;
    }
  }

  sendNotification(method: string, params: object): void {
    this.current()
      ?.client.sendNotification(method, params)
      .catch((problem: unknown) => this.log(errorMessage(problem)));
  }
}

function tokenOf(signal: AbortSignal): vscode.CancellationToken {
  const source = new vscode.CancellationTokenSource();
  signal.addEventListener("abort", () => source.cancel(), { once: true });
  if (signal.aborted) {
    source.cancel();
  }
  return source.token;
}
