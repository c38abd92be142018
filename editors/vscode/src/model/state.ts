/**
 * What the extension knows: sessions, hunks, and requests that wait for the user. Views listen to it. It outlives the
 * server.
 */

import { Events } from "./events";
import type { DocumentHunks, EffectiveSettings, Input, Permission, Session } from "./protocol";
import type { Transcript, UpdateParams } from "./transcript";
import type { Change } from "./transcriptTurn";

export interface StateEvents {
  /** Emitted after the transcript has the update. No `change`: there is nothing to redraw. */
  update: { readonly params: UpdateParams; readonly change?: Change };
  /** The hunks of this document changed. */
  hunks: { readonly uri: string };
  /** The pending permissions or questions changed. */
  permission: undefined;
  input: undefined;
  /** A transcript was replaced, a title or settings changed, or another session is current. */
  session: { readonly sessionId?: string };
  server: { readonly running: boolean; readonly starting?: boolean };
}

export class State extends Events<StateEvents> {
  /** By session id. A transcript can be replaced by another object, which emits `session`. */
  readonly transcripts = new Map<string, Transcript>();
  /** Undecided hunks (pending, conflict, stale) by document URI, as VS Code spells it. */
  readonly hunks = new Map<string, DocumentHunks>();
  /** Oldest first. */
  permissions: readonly Permission[] = [];
  inputs: readonly Input[] = [];
  readonly sessions = new Map<string, Session>();
  /** The settings of new sessions. */
  settings?: EffectiveSettings;
  /** The current session. Absent: the next turn starts a new one. */
  sessionId?: string;
  /** Counts how often the user went to a session or to a new one. */
  visit = 0;

  /**
   * Makes a session current; undefined: a new one. Drops the transcripts of other sessions in which no turn runs. They
   * are long, and are loaded again when their session is opened.
   */
  setCurrentSession(sessionId: string | undefined): void {
    for (const [other, { turns }] of this.transcripts) {
      if (other !== sessionId && turns.every((turn) => turn.state === "ended")) {
        this.transcripts.delete(other);
      }
    }
    this.visit += 1;
    if (sessionId === undefined) {
      delete this.sessionId;
    } else {
      this.sessionId = sessionId;
    }
    this.emit("session", sessionId === undefined ? {} : { sessionId });
  }

  /**
   * The server accepted a prompt that was sent to the session `from` (undefined: to a new one) during `visit`. Its
   * session becomes the current one, unless the user has gone elsewhere meanwhile, also to another new chat.
   */
  followPrompt(visit: number, from: string | undefined, sessionId: string): void {
    if (this.visit === visit && this.sessionId === from && from !== sessionId) {
      this.setCurrentSession(sessionId);
    }
  }
}
