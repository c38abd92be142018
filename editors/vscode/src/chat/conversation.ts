/** The session that the page shows: told whole once, then by its changes, of which many go in one message. */

import type { Disposable } from "../model/events";
import { warn, words } from "../status/notify";
import type { Core } from "../parts";
import type { Change, Transcript } from "../model/transcriptTypes";
import { Durations } from "./durations";
import type { Line } from "./line";
import type { TurnHead } from "./messages";
import { Outlet } from "./outlet";

const FLUSH_MS = 30;
const TURNS = 40; // that the page holds at first
const UNKNOWN = -32602; // as the server answers to an id it does not know
const MORE = 4; // times as many when the person wants earlier ones

export class Conversation implements Disposable {
  private sessionId: string | undefined;
  private told: { readonly sessionId: string | undefined; readonly transcript: Transcript | undefined } | undefined;
  private most = TURNS;
  private readonly durations = new Durations();
  private readonly outlet = new Outlet(this.durations);
  private flushing: NodeJS.Timeout | undefined;
  private readonly own: readonly Disposable[];

  /**
   * @param sending what is on its way to the server
   * @param other another session is the current one
   */
  constructor(
    private readonly core: Core,
    private readonly line: Line,
    private readonly sending: () => readonly TurnHead[],
    private readonly other: (sessionId: string | undefined) => void,
  ) {
    const { state } = core.server;
    this.own = [
      state.on("update", ({ params, change }) => {
        if (change !== undefined) {
          this.time(change);
          if (params.sessionId === state.sessionId) {
            this.changed(change);
          }
        }
      }),
      state.on("session", () => this.session()),
      state.on("server", ({ running }) => void (running && this.load())),
    ];
  }

  /** The page begins, or begins anew. */
  tell(): void {
    if (this.line.isOpen) {
      const transcript = this.current;
      const { sessionId } = this.core.server.state;
      this.told = { sessionId, transcript };
      const view = { ...this.outlet.whole(transcript, this.most), ...(sessionId !== undefined && { sessionId }) };
      this.line.tell({ kind: "transcript", transcript: view, sending: this.sending() });
    }
  }

  /** The page is gone. */
  forget(): void {
    this.told = undefined;
  }

  /** More of what was before that. */
  async earlier(): Promise<void> {
    const transcript = this.current;
    const held = this.most;
    this.most *= MORE;
    if (transcript !== undefined && transcript.earlier && transcript.turns.length <= held) {
      await this.core.sessions.earlier(transcript.sessionId);
    }
    this.tell();
  }

  /** Only the last turns again. */
  fewer(): void {
    this.most = TURNS;
    this.tell();
  }

  /** The stored words of the current session, where they are not here. */
  async load(): Promise<void> {
    const { server, sessions } = this.core;
    const { sessionId } = server.state;
    if (sessionId === undefined || !server.running) {
      return;
    }
    try {
      await sessions.open(sessionId);
    } catch (problem) {
      const isUnknown = (problem as { code?: unknown }).code === UNKNOWN && !server.state.transcripts.has(sessionId);
      if (isUnknown && server.state.sessionId === sessionId) {
        server.state.goOn(undefined); // it was deleted meanwhile: the next prompt begins another
      } else {
        void warn(words(problem));
      }
    }
  }

  dispose(): void {
    clearTimeout(this.flushing);
    for (const each of this.own) {
      each.dispose();
    }
  }

  private get current(): Transcript | undefined {
    const { sessionId, transcripts } = this.core.server.state;
    return transcripts.get(sessionId ?? "");
  }

  private time({ kind, turn, block }: Change): void {
    const calls = block?.kind === "toolCall" ? [block] : kind === "turn" ? turn.calls.values() : [];
    for (const call of calls) {
      this.durations.seen(call, Date.now());
    }
  }

  private session(): void {
    const { sessionId } = this.core.server.state;
    if (sessionId !== this.sessionId) {
      this.sessionId = sessionId;
      this.most = TURNS;
      this.other(sessionId);
      void this.load();
    }
    if (!this.isTold) {
      this.tell();
    }
  }

  private changed(change: Change): void {
    if (this.isTold) {
      this.outlet.touch(change);
      this.flushing ??= setTimeout(() => this.flush(), FLUSH_MS);
    } else {
      this.tell();
    }
  }

  /** What the page shows only needs changes: it is this transcript, not one that was loaded anew. */
  private get isTold(): boolean {
    const { told } = this;
    return told !== undefined && told.sessionId === this.core.server.state.sessionId && told.transcript === this.current;
  }

  private flush(): void {
    this.flushing = undefined;
    if (this.line.isOpen && this.outlet.isStale) {
      this.line.tell({ kind: "changes", changes: this.outlet.take() });
    }
  }
}
