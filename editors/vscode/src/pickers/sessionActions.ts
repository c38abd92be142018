/** What the user can do with a listed session. An action that cannot be undone asks for confirmation. */

import * as vscode from "vscode";
import type { Session } from "../model/protocol";
import type { Server } from "../model/server";
import type { SessionAction } from "../model/sessionRow";
import type { Sessions } from "../model/sessions";
import type { Updates } from "../model/updates";
import { confirm, showInfo } from "../window/notify";

export interface SessionContext {
  readonly server: Server;
  readonly sessions: Sessions;
  readonly updates: Updates;
}

type Act = (context: SessionContext, sessionId: string, title: string) => Promise<void>;

const FORMATS = [
  { label: "Markdown", detail: "To read", format: "markdown" },
  { label: "JSON", detail: "To import again", format: "json" },
];

export const SESSION_ACTIONS: Readonly<Record<SessionAction, Act>> = {
  open: async ({ sessions, server }, sessionId) => {
    const { place } = server.state; // the user can go to another chat meanwhile
    await sessions.openSession(sessionId);
    server.state.setCurrentSession(sessionId, place);
  },
  rename: async ({ server, updates }, sessionId, value) => {
    const title = (await vscode.window.showInputBox({ title: "Session Title", value }))?.trim();
    if (title) {
      updates.updateSession(await server.executeCommand<Session>("tark.session.rename", { sessionId, title }));
    }
  },
  fork: async (context, sessionId, title) => {
    const session = await context.server.executeCommand<Session>("tark.session.fork", { sessionId });
    await SESSION_ACTIONS.open(context, session.sessionId, title);
  },
  export: async ({ server }, sessionId) => {
    const chosen = await vscode.window.showQuickPick(FORMATS, { title: "Export As" });
    if (chosen === undefined) {
      return;
    }
    const argument = { sessionId, format: chosen.format };
    const { path } = await server.executeCommand<{ path: string }>("tark.session.export", argument);
    if (await showInfo(`exported to ${path}`, "Open")) {
      await vscode.window.showTextDocument(vscode.Uri.file(path));
    }
  },
  delete: async ({ server, updates }, sessionId, title) => {
    const detail = "All messages of the session are deleted. The changes it made to files stay.";
    const question = `Delete the session ${title === "" ? "without a title" : `“${title}”`}?`;
    if (await confirm(question, "Delete", detail)) {
      await server.executeCommand("tark.session.delete", { sessionId });
      updates.removeSession(sessionId);
    }
  },
};
