/** The list of sessions on the page, after it was opened. Updates their titles. */

import type { Disposable } from "../model/events";
import type { ChatDependencies } from "./dependencies";
import type { Place } from "../model/place";
import type { Session } from "../model/protocol";
import { SESSION_ACTIONS } from "../pickers/sessionActions";
import type { PageConnection } from "./pageConnection";
import type { SessionAction } from "../model/sessionRow";
import { sessionRow } from "./pageRows";

export class SessionList implements Disposable {
  private listed: readonly Session[] | undefined;
  private all = false; // sessions of other workspaces, too
  private readonly listening: Disposable;

  constructor(
    private readonly dependencies: ChatDependencies,
    private readonly place: Place,
    private readonly page: PageConnection,
  ) {
    this.listening = dependencies.server.state.on("session", () => this.postRows());
  }

  async listSessions(all: boolean): Promise<void> {
    const { sessions } = await this.dependencies.server.executeCommand<{ sessions: readonly Session[] }>("tark.session.list", { all });
    this.listed = sessions;
    this.all = all;
    this.postRows();
  }

  async runAction(action: SessionAction, sessionId: string): Promise<void> {
    const title = this.listed?.find((session) => session.sessionId === sessionId)?.title ?? "";
    await SESSION_ACTIONS[action](this.dependencies, sessionId, title);
    await this.listSessions(this.all); // the action can add or remove a session
  }

  /** The page was closed, and the list with it. */
  pageClosed(): void {
    this.listed = undefined;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private postRows(): void {
    const { sessions } = this.dependencies.server.state;
    const titled = (session: Session): Session => ({ ...session, title: sessions.get(session.sessionId)?.title ?? session.title });
    const rows = this.listed?.map((session) => sessionRow(titled(session), this.place.sessionId, Date.now()));
    if (rows !== undefined) {
      this.page.post({ kind: "sessions", sessions: rows, all: this.all });
    }
  }
}
