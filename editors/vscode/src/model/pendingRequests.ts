/** Permissions and questions that wait for the user. Each is added to the state, answered once, and removed. */

import type { Disposable } from "./events";
import type { Input, InputReply, Permission, PermissionReply } from "./protocol";
import type { State } from "./state";

export interface RequestKinds {
  permission: { request: Permission; reply: PermissionReply };
  input: { request: Input; reply: InputReply };
}
export type RequestKind = keyof RequestKinds;

/** The part of VS Code's CancellationToken that is used. */
export interface Cancellation {
  onCancellationRequested(listener: () => void): Disposable;
}

/** The server withdrew the request, so an answer has no receiver. */
export class WithdrawnError extends Error {}

const LISTS = { permission: "permissions", input: "inputs" } as const;

/**
 * The server withdraws a request before it sends it again with other hunks. The request stays visible for this time.
 */
const REPLACE_MS = 150;

interface Unanswered {
  resolve(reply: unknown): void;
  reject(problem: Error): void;
}

export class PendingRequests {
  private readonly unanswered = new Map<string, Unanswered>();
  /** Requests that were just withdrawn. They cannot be answered, and are soon replaced or removed. */
  private readonly leaving = new Map<string, { readonly kind: RequestKind; readonly timer: NodeJS.Timeout }>();

  /** @param send uses `tark.<kind>.answer` to answer what did not come to this client as a request */
  constructor(
    private readonly state: State,
    private readonly send: (kind: RequestKind, argument: object) => Promise<{ readonly accepted?: boolean } | null>,
  ) {
    state.on("server", ({ running }) => !running && this.ended());
  }

  /** Handles a request of the server. Resolves with the user's answer; rejects if the request is withdrawn. */
  async addRequest<K extends RequestKind>(kind: K, request: RequestKinds[K]["request"], cancellation: Cancellation): Promise<RequestKinds[K]["reply"]> {
    const id = request.requestId;
    this.unanswered.get(id)?.reject(new WithdrawnError("replaced by a new request")); // its hunks were edited, so the digest differs
    const answered = new Promise((resolve, reject) => this.unanswered.set(id, { resolve, reject }));
    const own = this.unanswered.get(id);
    clearTimeout(this.leaving.get(id)?.timer);
    this.leaving.delete(id);
    const withdrawal = cancellation.onCancellationRequested(() => {
      if (this.unanswered.get(id) === own) {
        this.unanswered.delete(id);
        this.leaving.set(id, { kind, timer: setTimeout(() => this.removeRequest(kind, id), REPLACE_MS) });
      }
      own?.reject(new WithdrawnError("withdrawn"));
    });
    const list: readonly RequestKinds[RequestKind]["request"][] = this.state[LISTS[kind]];
    const known = list.some((candidate) => candidate.requestId === id);
    this.setRequests(kind, known ? list.map((candidate) => (candidate.requestId === id ? request : candidate)) : [...list, request]);
    try {
      return (await answered) as RequestKinds[K]["reply"];
    } finally {
      withdrawal.dispose();
      if (this.unanswered.get(id) === own) {
        this.unanswered.delete(id);
        this.removeRequest(kind, id);
      }
    }
  }

  /** Sends the user's answer to the server, once. Returns false if the request no longer waits. */
  async answerRequest<K extends RequestKind>(kind: K, requestId: string, reply: RequestKinds[K]["reply"]): Promise<boolean> {
    const request = this.state[LISTS[kind]].find((candidate) => candidate.requestId === requestId);
    if (request === undefined || this.leaving.has(requestId)) {
      return false;
    }
    const asked = this.unanswered.get(requestId);
    this.removeRequest(kind, requestId);
    if (asked !== undefined) {
      asked.resolve(reply);
      return true;
    }
    try {
      const argument = { ...reply, requestId, digest: (request as Partial<Permission>).digest };
      return (await this.send(kind, argument))?.accepted !== false;
    } catch (problem) {
      this.setRequests(kind, [...this.state[LISTS[kind]], request]); // it still waits
      throw problem;
    }
  }

  /** The server has ended: rejects all requests. */
  private ended(): void {
    for (const [requestId, { kind, timer }] of [...this.leaving]) {
      clearTimeout(timer);
      this.removeRequest(kind, requestId);
    }
    for (const request of this.unanswered.values()) {
      request.reject(new WithdrawnError("the server has ended"));
    }
  }

  private removeRequest(kind: RequestKind, requestId: string): void {
    this.leaving.delete(requestId);
    const list: readonly RequestKinds[RequestKind]["request"][] = this.state[LISTS[kind]];
    const left = list.filter((candidate) => candidate.requestId !== requestId);
    if (left.length < list.length) {
      this.setRequests(kind, left);
    }
  }

  private setRequests(kind: RequestKind, list: readonly RequestKinds[RequestKind]["request"][]): void {
    if (kind === "permission") {
      this.state.permissions = list as readonly Permission[];
    } else {
      this.state.inputs = list as readonly Input[];
    }
    this.state.emit(kind, undefined);
  }
}
