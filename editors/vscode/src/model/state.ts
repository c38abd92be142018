/** What is known of the server: sessions, hunks, and what waits for the person. It outlives the server; views listen. */

import { Events } from "./events";
import type { DocumentHunks, EffectiveSettings, Input, Permission, Session } from "./protocol";
import type { Change, Transcript, UpdateParams } from "./transcriptTypes";

export interface StateEvents {
  /** After it is in the transcript. No change: nothing of it is to be drawn. */
  update: { readonly params: UpdateParams; readonly change?: Change };
  /** Of this document there are others now. */
  hunks: { readonly uri: string };
  /** Those that wait are others now. */
  permission: undefined;
  input: undefined;
  /** Its transcript was drawn anew, its title or settings changed, or another one is the current one. */
  session: { readonly sessionId?: string };
  server: { readonly running: boolean; readonly starting?: boolean };
}

export class State extends Events<StateEvents> {
  /** By session. A transcript may be replaced by another object; `session` tells of it. */
  readonly transcripts = new Map<string, Transcript>();
  /** Those to be decided (pending, conflict, stale), by the document's URI as VS Code spells it. */
  readonly hunks = new Map<string, DocumentHunks>();
  /** The oldest first. */
  permissions: readonly Permission[] = [];
  inputs: readonly Input[] = [];
  readonly sessions = new Map<string, Session>();
  /** What new sessions begin with. */
  settings?: EffectiveSettings;
  /** The session that the next turn goes on with. Absent: it begins one. */
  sessionId?: string;

  /**
   * The person goes on with this session, or with a new one. Of the others only what runs is kept: their transcripts are
   * long, and are loaded when they are opened again.
   */
  goOn(sessionId: string | undefined): void {
    for (const [other, { turns }] of this.transcripts) {
      if (other !== sessionId && turns.every((turn) => turn.state === "ended")) {
        this.transcripts.delete(other);
      }
    }
    if (sessionId === undefined) {
      delete this.sessionId;
    } else {
      this.sessionId = sessionId;
    }
    this.emit("session", sessionId === undefined ? {} : { sessionId });
  }
}
