/** The session that the page shows. Posts the transcript once, then its changes, batched in messages. */

import type { Disposable } from "../model/events";
import { reportError } from "../window/notify";
import type { ChatDependencies } from "./dependencies";
import type { Place } from "../model/place";
import type { Transcript } from "../model/transcript";
import type { Change } from "../model/transcriptTurn";
import { Durations } from "./durations";
import type { KeyCards } from "./keyCards";
import type { Retries } from "./retries";
import type { PageConnection } from "./pageConnection";
import type { TurnHead } from "./messages";
import { TranscriptChanges } from "./transcriptChanges";

const FLUSH_MS = 30;
const TURNS = 40; // the page holds at first
const UNKNOWN = -32602; // the server's error code for an unknown id
const MORE = 4; // times as many when the user asks for earlier ones

export class Conversation implements Disposable {
  private sessionId: string | undefined;
  private posted: { readonly sessionId: string | undefined; readonly transcript: Transcript | undefined } | undefined;
  private most = TURNS;
  private readonly durations = new Durations();
  private readonly changes: TranscriptChanges;
  private flushing: NodeJS.Timeout | undefined;
  private readonly disposables: readonly Disposable[];

  /**
   * @param sending prompts that the server has not accepted yet
   * @param onOtherSession the place shows another session
   */
  constructor(
    private readonly dependencies: ChatDependencies,
    private readonly place: Place,
    private readonly page: PageConnection,
    private readonly sending: () => readonly TurnHead[],
    private readonly onOtherSession: (sessionId: string | undefined) => void,
    private readonly retries: Retries,
    keys: KeyCards,
  ) {
    this.changes = new TranscriptChanges(this.durations, retries, keys);
    const { state } = dependencies.server;
    this.disposables = [
      state.on("update", ({ params, change }) => {
        if (change !== undefined) {
          this.recordDurations(change);
          if (params.update.kind === "end") {
            this.retries.recordEnd(change.turn);
          }
          if (params.sessionId === place.sessionId) {
            this.transcriptChanged(change);
          }
        }
      }),
      state.on("session", () => this.sessionChanged()),
      state.on("server", ({ running }) => void (running && this.loadCurrent())),
    ];
  }

  /** Posts the whole transcript. */
  postTranscript(): void {
    if (this.page.isOpen) {
      const transcript = this.current;
      const { sessionId } = this.place;
      this.posted = { sessionId, transcript };
      const view = { ...this.changes.fullView(transcript, this.most), ...(sessionId !== undefined && { sessionId }) };
      this.page.post({ kind: "transcript", transcript: view, sending: this.sending() });
    }
  }

  /** Redraws the head of a turn. */
  redrawTurn(turnId: string): void {
    const turn = this.current?.byId.get(turnId);
    if (turn !== undefined) {
      this.transcriptChanged({ kind: "turn", turn });
    }
  }

  /** The page was closed. */
  pageClosed(): void {
    this.posted = undefined;
  }

  /** Shows earlier turns. */
  async showEarlier(): Promise<void> {
    const transcript = this.current;
    const held = this.most;
    this.most *= MORE;
    if (transcript !== undefined && transcript.earlier && transcript.turns.length <= held) {
      await this.dependencies.sessions.loadEarlier(transcript.sessionId);
    }
    this.postTranscript();
  }

  /** Shows only the last turns again. */
  showFewer(): void {
    this.most = TURNS;
    this.postTranscript();
  }

  /** Loads the stored transcript of the session, if it is not loaded yet. */
  async loadCurrent(): Promise<void> {
    const { server, sessions } = this.dependencies;
    const { sessionId } = this.place;
    if (sessionId === undefined || !server.running) {
      return;
    }
    try {
      await sessions.openSession(sessionId);
    } catch (problem) {
      const isUnknown = (problem as { code?: unknown }).code === UNKNOWN && !server.state.transcripts.has(sessionId);
      if (isUnknown && this.place.sessionId === sessionId) {
        server.state.setCurrentSession(undefined, this.place); // it was deleted meanwhile: the next prompt starts another session
      } else {
        reportError(problem);
      }
    }
  }

  dispose(): void {
    clearTimeout(this.flushing);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private get current(): Transcript | undefined {
    return this.dependencies.server.state.transcripts.get(this.place.sessionId ?? "");
  }

  private recordDurations({ kind, turn, block }: Change): void {
    const calls = block?.kind === "toolCall" ? [block] : kind === "turn" ? turn.calls.values() : [];
    for (const call of calls) {
      this.durations.recordStatus(call, Date.now());
    }
  }

  private sessionChanged(): void {
    const { sessionId } = this.place;
    if (sessionId !== this.sessionId) {
      this.sessionId = sessionId;
      this.most = TURNS;
      this.onOtherSession(sessionId);
      void this.loadCurrent();
    }
    if (!this.isPosted) {
      this.postTranscript();
    }
  }

  private transcriptChanged(change: Change): void {
    if (this.isPosted) {
      this.changes.addChange(change);
      this.flushing ??= setTimeout(() => this.flush(), FLUSH_MS);
    } else {
      this.postTranscript();
    }
  }

  /** Does the page show the current transcript, so that changes are enough? */
  private get isPosted(): boolean {
    const { posted } = this;
    return posted !== undefined && posted.sessionId === this.place.sessionId && posted.transcript === this.current;
  }

  private flush(): void {
    this.flushing = undefined;
    if (this.page.isOpen && this.changes.hasChanges) {
      this.page.post({ kind: "changes", changes: this.changes.takeChanges() });
    }
  }
}
