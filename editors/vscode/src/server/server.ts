/** What the other parts get of the language server: commands to it, and what is known of it. */

import type { State } from "../model/state";

export interface Server {
  readonly state: State;
  readonly running: boolean;
  /** It is on its way: started, started anew, or waited with after it ended. `server` is told when that changes. */
  readonly starting: boolean;
  /** Starts it if there is none. Fails with words for the person. */
  ensure(): Promise<void>;
  /** One of the commands of docs/protocol.md; starts the server if need be. Fails with words for the person. */
  command<T>(name: string, argument?: object): Promise<T>;
  /** Any other request, of a server that runs. */
  request<T>(method: string, params: object): Promise<T>;
  /** Nothing is sent where no server runs. */
  notify(method: string, params: object): void;
}

/** There is none on this machine: it can be installed. `passedOver`: but this one, which is of the workspace. */
export class NoServer extends Error {
  constructor(passedOver?: string) {
    const but = passedOver === undefined ? "" : ` but ${passedOver}, which is of this workspace`;
    super(`no tark-lsp was found on this machine${but}: "Tark: Install Server" installs one`);
  }
}
