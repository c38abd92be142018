/** Loads stored sessions into the state: first their last messages, earlier ones on demand. */

import type { Session } from "./protocol";
import type { Server } from "./server";
import { fromSession, type OpenedSession } from "./storedSession";
import type { Transcript } from "./transcript";
import type { Updates } from "./updates";

const LAST = 200; // messages
const MORE = 4; // times as many when the user asks for earlier ones

export class Sessions {
  /** How many messages to load, by session. */
  private readonly wanted = new Map<string, number>();
  /** Transcripts that were loaded, or recorded from the start of their session. */
  private readonly complete = new WeakSet<Transcript>();
  private readonly loading = new Map<string, Promise<void>>();

  constructor(
    private readonly server: Server,
    private readonly updates: Updates,
  ) {}

  /** Loads the session if its transcript is not complete. */
  async openSession(sessionId: string): Promise<void> {
    const known = this.server.state.transcripts.get(sessionId);
    if (known === undefined || !this.complete.has(known)) {
      await this.reloadSession(sessionId);
    }
  }

  /** Call this for a session that was started here, whose transcript is complete. */
  markComplete(sessionId: string): void {
    const known = this.server.state.transcripts.get(sessionId);
    if (known !== undefined) {
      this.complete.add(known);
    }
  }

  /** Replaces the transcript with the stored session, because an update was lost or more messages are wanted. */
  async reloadSession(sessionId: string): Promise<void> {
    const loading = this.loading.get(sessionId) ?? this.load(sessionId).finally(() => this.loading.delete(sessionId));
    this.loading.set(sessionId, loading);
    await loading;
  }

  async loadEarlier(sessionId: string): Promise<void> {
    this.wanted.set(sessionId, (this.wanted.get(sessionId) ?? LAST) * MORE);
    await this.reloadSession(sessionId);
  }

  /**
   * Creates a session that continues from before a turn: a fork up to the message before it, or a new session. Returns
   * its id.
   */
  async forkBefore(sessionId: string, turnId: string): Promise<string> {
    const opened = await this.server.executeCommand<OpenedSession>("tark.session.open", { sessionId });
    const place = opened.messages.findIndex((message) => message.turnId === turnId);
    if (place < 0) {
      throw new Error("the session no longer contains that prompt");
    }
    const messageId = opened.messages
      .slice(0, place)
      .map((message) => message.messageId)
      .findLast((id) => id !== undefined);
    const created =
      messageId === undefined
        ? await this.server.executeCommand<{ sessionId: string }>("tark.session.new")
        : await this.server.executeCommand<{ sessionId: string }>("tark.session.fork", { sessionId, messageId });
    await this.openSession(created.sessionId);
    return created.sessionId;
  }

  private async load(sessionId: string): Promise<void> {
    const last = this.wanted.get(sessionId) ?? LAST;
    const opened = await this.server.executeCommand<OpenedSession & Omit<Session, "turns">>("tark.session.open", { sessionId, last });
    // Updates that arrive meanwhile have higher numbers than this answer, so they continue it.
    const transcript = fromSession(opened);
    this.complete.add(transcript);
    const { messages: _, ...session } = opened;
    const turns = this.server.state.sessions.get(sessionId)?.turns ?? opened.turns.length; // in the answer, `turns` is a list
    this.updates.replaceSession({ ...session, turns }, transcript);
  }
}
