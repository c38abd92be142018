/** Turns are started here: with the words, the place and the session they are about; none of the words is ever lost. */

import * as vscode from "vscode";
import type { StartedTurn } from "./protocol";
import type { Server } from "./server/server";
import type { Sessions } from "./sessions";
import type { Updates } from "./updates";

export class Turns {
  constructor(
    private readonly server: Server,
    private readonly updates: Updates,
    private readonly sessions: Sessions,
  ) {}

  /** Sends a prompt to the current session, or to the one that is named. Fails with words for the person. */
  async send(argument: { prompt: string; sessionId?: string; [field: string]: unknown }): Promise<StartedTurn> {
    const { state } = this.server;
    const sessionId = argument.sessionId ?? state.sessionId;
    const answer = await this.server.command<StartedTurn>("tark.turn.start", { ...argument, sessionId });
    this.updates.asked(answer, argument.prompt);
    if (sessionId === undefined) {
      this.sessions.begun(answer.sessionId);
    }
    if (state.sessionId === sessionId && sessionId !== answer.sessionId) {
      state.goOn(answer.sessionId); // else another was chosen meanwhile
    }
    return answer;
  }

  /** From the editor: asks for the words where the kind needs some. */
  async start(kind: string): Promise<void> {
    await vscode.window.showInputBox({ prompt: kind });
  }
}
