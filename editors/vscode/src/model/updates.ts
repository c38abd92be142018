/** What the server tells enters the state here, and nowhere else. */

import type { DocumentHunks, Hunk, Optional, ServerState, Session, StartedTurn } from "./protocol";
import type { State } from "./state";
import { asked, interrupted, newTranscript, reduce, steered } from "./transcript";
import type { Transcript, Turn, UpdateParams } from "./transcriptTypes";

const UNDECIDED = new Set(["pending", "conflict", "stale"]);

export class Updates {
  /** Turns with a gap. */
  private readonly reloaded = new WeakSet<Turn>();

  /**
   * @param normal how the editor spells a URI, which the server may write in another way
   * @param reload an update got lost: the session is to be drawn from what is stored of it
   */
  constructor(
    private readonly state: State,
    private readonly normal: (uri: string) => string,
    private readonly reload: (sessionId: string) => void,
  ) {}

  /** `tark/update`. */
  received(params: UpdateParams): void {
    if (params.update.kind === "hunks") {
      this.hunks(params.update as unknown as DocumentHunks);
    }
    if (params.sessionId === "") {
      return; // hunks of a session that was deleted
    }
    const change = reduce(this.transcript(params.sessionId), params);
    this.state.emit("update", change === undefined ? { params } : { params, change });
    if (change?.turn.gap && !this.reloaded.has(change.turn)) {
      this.reloaded.add(change.turn); // once: it may fail
      this.reload(params.sessionId);
    }
  }

  /** The server took a turn: it is seen before its first update, which comes when those before it are over. */
  asked({ sessionId, turnId }: StartedTurn, prompt: string): void {
    const change = asked(this.transcript(sessionId), turnId, prompt);
    if (change !== undefined) {
      this.state.emit("update", { params: { sessionId, turnId, seq: 0, update: { kind: "asked" } }, change });
    }
  }

  /** The server took what the person said to a running turn. */
  steered({ sessionId, turnId }: StartedTurn, prompt: string): void {
    const change = steered(this.transcript(sessionId), turnId, prompt);
    this.state.emit("update", {
      params: { sessionId, turnId, seq: change.turn.seq, update: { kind: "steered" } },
      change,
    });
  }

  /**
   * All hunks of a document, also those decided long ago. One that is told of under another name has left the former:
   * its file was moved, or opened by another path.
   */
  hunks(told: DocumentHunks): void {
    const uri = this.normal(told.uri);
    const ids = new Set(told.hunks.map((hunk) => hunk.hunkId));
    for (const [other, of] of [...this.state.hunks]) {
      const left = of.hunks.filter((hunk) => !ids.has(hunk.hunkId));
      if (other !== uri && left.length < of.hunks.length) {
        this.keep(other, of.version, left);
      }
    }
    this.hunksOfPermissions(told.hunks);
    this.keep(
      uri,
      told.version,
      told.hunks.filter((hunk) => UNDECIDED.has(hunk.state)),
    );
  }

  /** All hunks there are, by `tark.hunk.list`. */
  allHunks(hunks: readonly (Hunk & { readonly uri: string; readonly version?: Optional<number> })[]): void {
    const documents = new Map<string, { uri: string; version: Optional<number>; hunks: Hunk[] }>();
    for (const uri of this.state.hunks.keys()) {
      documents.set(uri, { uri, version: undefined, hunks: [] });
    }
    for (const hunk of hunks) {
      const uri = this.normal(hunk.uri);
      const document = documents.get(uri) ?? { uri, version: undefined, hunks: [] };
      documents.set(uri, document);
      document.version = hunk.version;
      document.hunks.push(hunk);
    }
    for (const document of documents.values()) {
      this.hunks(document);
    }
  }

  /** How things stand, by `tark.state`. */
  refreshed(told: ServerState): void {
    this.state.settings = told.settings ?? {};
    this.state.permissions = told.permissions ?? [];
    this.state.inputs = told.inputs ?? [];
    for (const session of told.sessions ?? []) {
      this.keepSession(session);
    }
    this.state.emit("permission", undefined);
    this.state.emit("input", undefined);
    this.state.emit("session", {});
  }

  /** `tark/session`, and what commands answer of one. */
  session(session: Session): void {
    this.keepSession(session);
    this.state.emit("session", { sessionId: session.sessionId });
  }

  /** A session as it is stored, instead of what is known of it. */
  reopened(session: Session, transcript: Transcript): void {
    this.state.transcripts.set(session.sessionId, transcript);
    this.session(session);
  }

  deleted(sessionId: string): void {
    this.state.sessions.delete(sessionId);
    this.state.transcripts.delete(sessionId);
    if (this.state.sessionId === sessionId) {
      this.state.goOn(undefined);
    } else {
      this.state.emit("session", { sessionId });
    }
  }

  /**
   * The server is gone: what it did is over, and nothing waits for the person any more. Its hunks are told of anew by
   * the next one. How many turns were cut.
   */
  interrupted(): number {
    let turns = 0;
    for (const [sessionId, transcript] of this.state.transcripts) {
      for (const turn of interrupted(transcript)) {
        turns += 1;
        const update = { kind: "end", stopReason: turn.stopReason, error: turn.error, text: "", edits: [] };
        const params = { sessionId, turnId: turn.turnId, seq: turn.seq, update };
        this.state.emit("update", { params, change: { turn, kind: "turn" } });
      }
    }
    this.state.permissions = [];
    this.state.inputs = [];
    this.state.emit("permission", undefined);
    this.state.emit("input", undefined);
    for (const uri of [...this.state.hunks.keys()]) {
      this.keep(uri, undefined, []);
    }
    return turns;
  }

  private transcript(sessionId: string): Transcript {
    const known = this.state.transcripts.get(sessionId) ?? newTranscript(sessionId);
    this.state.transcripts.set(sessionId, known);
    return known;
  }

  private keep(uri: string, version: Optional<number>, hunks: readonly Hunk[]): void {
    if (hunks.length > 0) {
      this.state.hunks.set(uri, { uri, version, hunks });
    } else if (!this.state.hunks.delete(uri)) {
      return; // there were none, and there are none
    }
    this.state.emit("hunks", { uri });
  }

  private keepSession(session: Session): void {
    this.state.sessions.set(session.sessionId, { ...this.state.sessions.get(session.sessionId), ...session });
  }

  /** Hunks of a request can be decided one by one: it says which are still asked about. */
  private hunksOfPermissions(told: readonly Hunk[]): void {
    const states = new Map(told.map((hunk) => [hunk.hunkId, hunk.state]));
    const isOther = (hunk: Hunk): boolean => (states.get(hunk.hunkId) ?? hunk.state) !== hunk.state;
    const now = (hunk: Hunk): Hunk => ({ ...hunk, state: states.get(hunk.hunkId) ?? hunk.state });
    if (this.state.permissions.some(({ edits }) => edits?.some(({ hunks }) => hunks.some(isOther)))) {
      this.state.permissions = this.state.permissions.map((request) =>
        request.edits
          ? { ...request, edits: request.edits.map((each) => ({ ...each, hunks: each.hunks.map(now) })) }
          : request,
      );
      this.state.emit("permission", undefined);
    }
  }
}
