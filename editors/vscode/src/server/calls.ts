/** Commands and requests to the server that runs, and what one is told where they cannot be done. */

import { words } from "../status/notify";
import type { Running } from "./launch";

const ENDED = "the server has ended";

/** `current`: the one that runs now, if one does. */
export class Calls {
  constructor(
    private readonly current: () => Running | undefined,
    private readonly log: (line: string) => void,
  ) {}

  async command<T>(name: string, argument: object): Promise<T> {
    const of = this.current();
    const commands = of?.client.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    if (of !== undefined && !commands.includes(name)) {
      throw new Error(`the server does not know ${name}: is it up to date? ("Tark: Install Server")`);
    }
    return this.request<T>("workspace/executeCommand", { command: name, arguments: [argument] });
  }

  async request<T>(method: string, params: object): Promise<T> {
    const of = this.current();
    if (of === undefined) {
      throw new Error(ENDED);
    }
    try {
      return await of.client.sendRequest<T>(method, params);
    } catch (problem) {
      throw this.current() === of ? problem : new Error(ENDED, { cause: problem });
    }
  }

  notify(method: string, params: object): void {
    this.current()
      ?.client.sendNotification(method, params)
      .catch((problem: unknown) => this.log(words(problem)));
  }
}
