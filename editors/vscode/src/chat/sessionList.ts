/** The list of sessions on the page, once it was opened: as the server lists them, by the titles they have since. */

import type { Disposable } from "../model/events";
import type { Core } from "../parts";
import type { Session } from "../model/protocol";
import { SESSION_ACTIONS } from "../pickers/sessionActions";
import type { Line } from "./line";
import type { SessionAction } from "./messages";
import { sessionRow } from "./told";

export class SessionList implements Disposable {
  private listed: readonly Session[] | undefined;
  private all = false; // those of other workspaces, too
  private readonly listening: Disposable;

  constructor(
    private readonly core: Core,
    private readonly line: Line,
  ) {
    this.listening = core.server.state.on("session", () => this.tell());
  }

  async ask(all: boolean): Promise<void> {
    const { sessions } = await this.core.server.command<{ sessions: readonly Session[] }>("tark.session.list", { all });
    this.listed = sessions;
    this.all = all;
    this.tell();
  }

  async act(action: SessionAction, sessionId: string): Promise<void> {
    const title = this.listed?.find((each) => each.sessionId === sessionId)?.title ?? "";
    await SESSION_ACTIONS[action](this.core, sessionId, title);
    await this.ask(this.all); // one may be gone, or new
  }

  /** The page is gone, and its list is closed. */
  forget(): void {
    this.listed = undefined;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private tell(): void {
    const { sessions, sessionId } = this.core.server.state;
    const titled = (each: Session): Session => ({ ...each, title: sessions.get(each.sessionId)?.title ?? each.title });
    const rows = this.listed?.map((each) => sessionRow(titled(each), sessionId, Date.now()));
    if (rows !== undefined) {
      this.line.tell({ kind: "sessions", sessions: rows, all: this.all });
    }
  }
}
