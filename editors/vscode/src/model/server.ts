/** The language server as the other parts of the extension see it. */

import type { State } from "./state";

export interface Server {
  readonly state: State;
  readonly running: boolean;
  /** The server is being started or restarted, or a restart is scheduled. The state emits `server` when this changes. */
  readonly starting: boolean;
  /** Starts the server if none runs. Rejects with a message for the user. */
  ensureRunning(): Promise<void>;
  /** Runs a command of docs/protocol.md. Starts the server if none runs. Rejects with a message for the user. */
  executeCommand<T>(name: string, argument?: object, signal?: AbortSignal): Promise<T>;
  /** Sends any other request to the running server. */
  sendRequest<T>(method: string, params: object): Promise<T>;
  /** Sends nothing if no server runs. */
  sendNotification(method: string, params: object): void;
}

/** The server ended. A separate message says so, or the user has restarted it. */
export class ServerEndedError extends Error {}

/**
 * No server was found, so one can be installed. `skipped`: a program that was not used, because it is in the workspace.
 */
export class NoServerError extends Error {
  constructor(skipped?: string) {
    const except = skipped === undefined ? "" : ` except ${skipped}, which is part of this workspace`;
    super(`no tark-lsp was found on this machine${except}: run "Tark: Install Server" to install one`);
  }
}
