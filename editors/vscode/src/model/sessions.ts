/** Stored sessions, brought into the state: the last messages of them first, earlier ones on demand. */

import type { Session } from "./protocol";
import type { Server } from "../server/server";
import { fromSession, type OpenedSession } from "./storedSession";
import type { Transcript } from "./transcriptTypes";
import type { Updates } from "./updates";

const LAST = 200; // messages
const MORE = 4; // times as many when the person wants earlier ones

export class Sessions {
  /** How many messages of a session are wanted. */
  private readonly wanted = new Map<string, number>();
  /** Those that begin where their session begins, or were loaded. */
  private readonly whole = new WeakSet<Transcript>();
  private readonly loading = new Map<string, Promise<void>>();

  constructor(
    private readonly server: Server,
    private readonly updates: Updates,
  ) {}

  /** At once where all of it is here already. */
  async open(sessionId: string): Promise<void> {
    const known = this.server.state.transcripts.get(sessionId);
    if (known === undefined || !this.whole.has(known)) {
      await this.reload(sessionId);
    }
  }

  /** It was begun here, so that nothing of it is missing. */
  begun(sessionId: string): void {
    const known = this.server.state.transcripts.get(sessionId);
    if (known !== undefined) {
      this.whole.add(known);
    }
  }

  /** As it is stored: an update is missing, or more of it is wanted. */
  async reload(sessionId: string): Promise<void> {
    const loading = this.loading.get(sessionId) ?? this.load(sessionId).finally(() => this.loading.delete(sessionId));
    this.loading.set(sessionId, loading);
    await loading;
  }

  async earlier(sessionId: string): Promise<void> {
    this.wanted.set(sessionId, (this.wanted.get(sessionId) ?? LAST) * MORE);
    await this.reload(sessionId);
  }

  /** A session that goes on from before a turn: a fork up to the message before it, or a new one. Its id. */
  async before(sessionId: string, turnId: string): Promise<string> {
    const opened = await this.server.command<OpenedSession>("tark.session.open", { sessionId });
    const place = opened.messages.findIndex((message) => message.turnId === turnId);
    if (place < 0) {
      throw new Error("that prompt is not in the session any more");
    }
    const messageId = opened.messages
      .slice(0, place)
      .map((message) => message.messageId)
      .findLast((id) => id !== undefined);
    const begun =
      messageId === undefined
        ? await this.server.command<{ sessionId: string }>("tark.session.new")
        : await this.server.command<{ sessionId: string }>("tark.session.fork", { sessionId, messageId });
    await this.open(begun.sessionId);
    return begun.sessionId;
  }

  private async load(sessionId: string): Promise<void> {
    const last = this.wanted.get(sessionId) ?? LAST;
    const opened = await this.server.command<OpenedSession & Omit<Session, "turns">>("tark.session.open", { sessionId, last });
    // What comes while it runs has higher numbers than this answer, and goes on from it.
    const transcript = fromSession(opened);
    this.whole.add(transcript);
    const { messages: _, ...session } = opened;
    const turns = this.server.state.sessions.get(sessionId)?.turns ?? opened.turns.length; // here it is their list
    this.updates.reopened({ ...session, turns }, transcript);
  }
}
