/** The place of a chat: which session it shows. */
export class Place {
  /** Absent: a new chat, whose next prompt starts a session. */
  sessionId?: string;
  /** Counts how often the user went to an existing or new session here. */
  visit = 0;

  show(sessionId: string | undefined): void {
    this.visit += 1;
    if (sessionId === undefined) {
      delete this.sessionId;
    } else {
      this.sessionId = sessionId;
    }
  }
}
