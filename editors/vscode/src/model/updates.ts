/** Writes what the server reports into the state. Only this module and pendingRequests.ts do so. */

import type { DocumentHunks, Hunk, Optional, ServerState, Session, StartedTurn } from "./protocol";
import type { State } from "./state";
import { addQueuedTurn, interrupt, newTranscript, reduce, addSteer } from "./transcript";
import type { Transcript, UpdateParams } from "./transcript";
import type { Turn } from "./transcriptTurn";

const UNDECIDED = new Set(["pending", "conflict", "stale"]);

export class Updates {
  /** Turns with a gap, whose session was reloaded. */
  private readonly reloaded = new WeakSet<Turn>();
  /** Sessions with turns that the end of a server interrupted. */
  private readonly interrupted = new Set<string>();

  /**
   * @param normalizeUri returns the URI as the editor spells it; the server can spell it differently
   * @param reload loads the stored session: an update was lost, or the server knows more
   */
  constructor(
    private readonly state: State,
    private readonly normalizeUri: (uri: string) => string,
    private readonly reload: (sessionId: string) => void,
  ) {}

  /** `tark/update`. */
  applyUpdate(params: UpdateParams): void {
    if (params.update.kind === "hunks") {
      this.setDocumentHunks(params.update as unknown as DocumentHunks);
    }
    if (params.sessionId === "") {
      return; // hunks of a deleted session
    }
    const change = reduce(this.transcriptOf(params.sessionId), params);
    this.state.emit("update", change === undefined ? { params } : { params, change });
    if (change?.turn.gap && !this.reloaded.has(change.turn)) {
      this.reloaded.add(change.turn); // only once, since it can fail
      this.reload(params.sessionId);
    }
  }

  /** Called when the server accepted a turn. It is visible before its first update, which comes when earlier turns have ended. */
  addQueuedTurn({ sessionId, turnId }: StartedTurn, prompt: string): void {
    const change = addQueuedTurn(this.transcriptOf(sessionId), turnId, prompt);
    if (change !== undefined) {
      this.state.emit("update", { params: { sessionId, turnId, seq: 0, update: { kind: "asked" } }, change });
    }
  }

  /** Called when the server accepted a prompt for a running turn. */
  addSteer({ sessionId, turnId }: StartedTurn, prompt: string): void {
    const change = addSteer(this.transcriptOf(sessionId), turnId, prompt);
    this.state.emit("update", {
      params: { sessionId, turnId, seq: change.turn.seq, update: { kind: "steered" } },
      change,
    });
  }

  /**
   * Sets all hunks of a document, decided ones included. A hunk that was known under another URI is removed there: its
   * file was moved, or opened by another path.
   */
  setDocumentHunks(document: DocumentHunks): void {
    const uri = this.normalizeUri(document.uri);
    const ids = new Set(document.hunks.map((hunk) => hunk.hunkId));
    for (const [other, former] of [...this.state.hunks]) {
      const left = former.hunks.filter((hunk) => !ids.has(hunk.hunkId));
      if (other !== uri && left.length < former.hunks.length) {
        this.setHunks(other, former.version, left);
      }
    }
    this.updatePermissionHunks(document.hunks);
    this.setHunks(
      uri,
      document.version,
      document.hunks.filter((hunk) => UNDECIDED.has(hunk.state)),
    );
  }

  /** Sets all hunks of all documents, from `tark.hunk.list`. */
  setAllHunks(hunks: readonly (Hunk & { readonly uri: string; readonly version?: Optional<number> })[]): void {
    const documents = new Map<string, { uri: string; version: Optional<number>; hunks: Hunk[] }>();
    for (const uri of this.state.hunks.keys()) {
      documents.set(uri, { uri, version: undefined, hunks: [] });
    }
    for (const hunk of hunks) {
      const uri = this.normalizeUri(hunk.uri);
      const document = documents.get(uri) ?? { uri, version: undefined, hunks: [] };
      documents.set(uri, document);
      document.version = hunk.version;
      document.hunks.push(hunk);
    }
    for (const document of documents.values()) {
      this.setDocumentHunks(document);
    }
  }

  /**
   * Applies the answer of `tark.state`. The next server knows which edits of interrupted turns still wait, so their
   * sessions are loaded again.
   */
  applyServerState(server: ServerState): void {
    const again = [...this.interrupted];
    this.interrupted.clear();
    this.state.settings = server.settings ?? {};
    this.state.permissions = server.permissions ?? [];
    this.state.inputs = server.inputs ?? [];
    for (const session of server.sessions ?? []) {
      this.mergeSession(session);
    }
    this.state.emit("permission", undefined);
    this.state.emit("input", undefined);
    this.state.emit("session", {});
    again.forEach(this.reload);
  }

  /** Applies `tark/session`, or a session that a command returned. */
  updateSession(session: Session): void {
    this.mergeSession(session);
    this.state.emit("session", { sessionId: session.sessionId });
  }

  /** Replaces a session and its transcript with the stored session. */
  replaceSession(session: Session, transcript: Transcript): void {
    this.state.transcripts.set(session.sessionId, transcript);
    this.updateSession(session);
  }

  removeSession(sessionId: string): void {
    this.state.sessions.delete(sessionId);
    this.state.transcripts.delete(sessionId);
    for (const place of this.state.places) {
      if (place.sessionId === sessionId) {
        place.show(undefined);
      }
    }
    this.state.emit("session", { sessionId });
  }

  /**
   * Called when the server has ended: ends its turns, and drops its requests and hunks. The next server reports the hunks again.
   * Returns how many turns were interrupted.
   */
  interruptAll(): number {
    let turns = 0;
    for (const [sessionId, transcript] of this.state.transcripts) {
      for (const turn of interrupt(transcript)) {
        turns += 1;
        this.interrupted.add(sessionId);
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
      this.setHunks(uri, undefined, []);
    }
    return turns;
  }

  private transcriptOf(sessionId: string): Transcript {
    const known = this.state.transcripts.get(sessionId) ?? newTranscript(sessionId);
    this.state.transcripts.set(sessionId, known);
    return known;
  }

  private setHunks(uri: string, version: Optional<number>, hunks: readonly Hunk[]): void {
    if (hunks.length > 0) {
      this.state.hunks.set(uri, { uri, version, hunks });
    } else if (!this.state.hunks.delete(uri)) {
      return; // nothing changed
    }
    this.state.emit("hunks", { uri });
  }

  private mergeSession(session: Session): void {
    this.state.sessions.set(session.sessionId, { ...this.state.sessions.get(session.sessionId), ...session });
  }

  /** The hunks of a request can be decided one by one. Updates their states in the request. */
  private updatePermissionHunks(changed: readonly Hunk[]): void {
    const states = new Map(changed.map((hunk) => [hunk.hunkId, hunk.state]));
    const isOther = (hunk: Hunk): boolean => (states.get(hunk.hunkId) ?? hunk.state) !== hunk.state;
    const now = (hunk: Hunk): Hunk => ({ ...hunk, state: states.get(hunk.hunkId) ?? hunk.state });
    if (this.state.permissions.some(({ edits }) => edits?.some(({ hunks }) => hunks.some(isOther)))) {
      this.state.permissions = this.state.permissions.map((request) =>
        request.edits
          ? { ...request, edits: request.edits.map((document) => ({ ...document, hunks: document.hunks.map(now) })) }
          : request,
      );
      this.state.emit("permission", undefined);
    }
  }
}
