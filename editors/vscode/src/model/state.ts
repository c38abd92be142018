/**
 * The state of the extension: sessions, hunks, and requests that wait for the user. Views listen to it. It is kept when
 * the server ends.
 */

import { Events } from "./events";
import type { KeyCheck } from "./keyCheck";
import type { McpChange } from "./mcp";
import { Place } from "./place";
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
  /** Shows the chat that is used now and focuses its prompt, for example because the session to show is in another chat. */
  reveal: undefined;
  /** A key was stored for the provider and checked. A refused one is not kept. */
  key: { readonly provider: string; readonly check: KeyCheck };
  /** The list of MCP servers and hooks has changed. */
  mcp: McpChange;
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
  /** The place of the chat that was used last. Commands are about its session. */
  place = new Place();
  /** The places of all chats. */
  readonly places = new Set<Place>([this.place]);

  /** The current session. Undefined: the next turn starts a new one. */
  get sessionId(): string | undefined {
    return this.place.sessionId;
  }

  /** Call this when the user uses the chat at this place. */
  usePlace(place: Place): void {
    if (place !== this.place) {
      this.place = place;
      this.emit("session", {});
    }
  }

  /** Call this when the chat at this place was closed. */
  removePlace(place: Place, next: Place): void {
    this.places.delete(place);
    if (place === this.place) {
      this.usePlace(next);
    }
  }

  /**
   * Shows a session at a place; undefined: a new one. If another chat shows it, that chat is used instead. Drops the
   * transcripts of sessions that no chat shows and in which no turn runs. They are long, and are loaded again when their
   * session is opened.
   */
  setCurrentSession(sessionId: string | undefined, place = this.place): void {
    const other = [...this.places].find((each) => each !== place && sessionId !== undefined && each.sessionId === sessionId);
    if (other !== undefined) {
      this.usePlace(other);
      this.emit("reveal", undefined);
      return;
    }
    place.show(sessionId);
    const shown = new Set([...this.places].map((each) => each.sessionId));
    for (const [id, { turns }] of this.transcripts) {
      if (!shown.has(id) && turns.every((turn) => turn.state === "ended")) {
        this.transcripts.delete(id);
      }
    }
    this.emit("session", sessionId === undefined ? {} : { sessionId });
  }

  /**
   * The server accepted a prompt that was sent from `place` to the session `from` (undefined: to a new one) during
   * `visit`. The place shows its session, unless the user has gone elsewhere in the meantime, also to another new chat.
   */
  followPrompt(place: Place, visit: number, from: string | undefined, sessionId: string): void {
    if (place.visit === visit && place.sessionId === from && from !== sessionId) {
      this.setCurrentSession(sessionId, place);
    }
  }
}
