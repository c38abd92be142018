/** What waits for the person, permissions and questions alike: it enters the state, is answered once, and is dropped. */

import type { Disposable } from "../model/events";
import type { Input, InputReply, Permission, PermissionReply } from "../model/protocol";
import type { State } from "../model/state";

export interface Kinds {
  permission: { request: Permission; reply: PermissionReply };
  input: { request: Input; reply: InputReply };
}
export type Kind = keyof Kinds;

/** VS Code's CancellationToken, as far as it is used. */
export interface Cancellation {
  onCancellationRequested(listener: () => void): Disposable;
}

/** The request was taken back: its answer goes nowhere. */
export class TakenBack extends Error {}

const LISTS = { permission: "permissions", input: "inputs" } as const;

/** The server takes a request back before it asks it anew, with other hunks: so long the person keeps looking at it. */
const ANEW_MS = 150;

interface Asked {
  resolve(reply: unknown): void;
  reject(problem: Error): void;
}

export class Waiting {
  private readonly asked = new Map<string, Asked>();
  /** Taken back just now, and not answerable: asked anew, or about to go. */
  private readonly leaving = new Map<string, { readonly kind: Kind; readonly timer: NodeJS.Timeout }>();

  /** @param send answers what did not come as a request to this client, by `tark.<kind>.answer` */
  constructor(
    private readonly state: State,
    private readonly send: (kind: Kind, argument: object) => Promise<{ readonly accepted?: boolean } | null>,
  ) {
    state.on("server", ({ running }) => !running && this.ended());
  }

  /** The handler of a request of the server: done when the person has answered, fails when it is no more. */
  async ask<K extends Kind>(kind: K, request: Kinds[K]["request"], cancellation: Cancellation): Promise<Kinds[K]["reply"]> {
    const id = request.requestId;
    this.asked.get(id)?.reject(new TakenBack("asked anew")); // its hunks were edited: another digest
    const answered = new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }));
    const own = this.asked.get(id);
    clearTimeout(this.leaving.get(id)?.timer);
    this.leaving.delete(id);
    const takenBack = cancellation.onCancellationRequested(() => {
      if (this.asked.get(id) === own) {
        this.asked.delete(id);
        this.leaving.set(id, { kind, timer: setTimeout(() => this.drop(kind, id), ANEW_MS) });
      }
      own?.reject(new TakenBack("taken back"));
    });
    const list: readonly Kinds[Kind]["request"][] = this.state[LISTS[kind]];
    const known = list.some((each) => each.requestId === id);
    this.keep(kind, known ? list.map((each) => (each.requestId === id ? request : each)) : [...list, request]);
    try {
      return (await answered) as Kinds[K]["reply"];
    } finally {
      takenBack.dispose();
      if (this.asked.get(id) === own) {
        this.asked.delete(id);
        this.drop(kind, id);
      }
    }
  }

  /** What the person decided goes to the server, once. False: it does not wait any more. */
  async answer<K extends Kind>(kind: K, requestId: string, reply: Kinds[K]["reply"]): Promise<boolean> {
    const request = this.state[LISTS[kind]].find((each) => each.requestId === requestId);
    if (request === undefined || this.leaving.has(requestId)) {
      return false;
    }
    const asked = this.asked.get(requestId);
    this.drop(kind, requestId);
    if (asked !== undefined) {
      asked.resolve(reply);
      return true;
    }
    try {
      const argument = { ...reply, requestId, digest: (request as Partial<Permission>).digest };
      return (await this.send(kind, argument))?.accepted !== false;
    } catch (problem) {
      this.keep(kind, [...this.state[LISTS[kind]], request]); // it waits as before
      throw problem;
    }
  }

  /** The server has ended: nobody waits for the answers. */
  private ended(): void {
    for (const [requestId, { kind, timer }] of [...this.leaving]) {
      clearTimeout(timer);
      this.drop(kind, requestId);
    }
    for (const each of this.asked.values()) {
      each.reject(new TakenBack("the server has ended"));
    }
  }

  private drop(kind: Kind, requestId: string): void {
    this.leaving.delete(requestId);
    const list: readonly Kinds[Kind]["request"][] = this.state[LISTS[kind]];
    const left = list.filter((each) => each.requestId !== requestId);
    if (left.length < list.length) {
      this.keep(kind, left);
    }
  }

  private keep(kind: Kind, list: readonly Kinds[Kind]["request"][]): void {
    if (kind === "permission") {
      this.state.permissions = list as readonly Permission[];
    } else {
      this.state.inputs = list as readonly Input[];
    }
    this.state.emit(kind, undefined);
  }
}
