/** What can be done with a session of the list. What cannot be undone is asked about. */

import * as vscode from "vscode";
import { say } from "../notify";
import type { Core } from "../parts";
import type { Session } from "../protocol";
import { line } from "../visible";
import type { SessionAction } from "./messages";

type Act = (core: Core, sessionId: string, title: string) => Promise<void>;

export const SESSION_ACTIONS: Readonly<Record<SessionAction, Act>> = {
  open: async ({ sessions, server }, sessionId) => {
    await sessions.open(sessionId);
    server.state.goOn(sessionId);
  },
  rename: async ({ server, updates }, sessionId, value) => {
    const title = await vscode.window.showInputBox({ prompt: "What the session is called", value });
    if (title !== undefined && title.trim() !== "") {
      updates.session(await server.command<Session>("tark.session.rename", { sessionId, title: title.trim() }));
    }
  },
  fork: async (core, sessionId, title) => {
    const session = await core.server.command<Session>("tark.session.fork", { sessionId });
    await SESSION_ACTIONS.open(core, session.sessionId, title);
  },
  export: async ({ server }, sessionId) => {
    const { path } = await server.command<{ path: string }>("tark.session.export", { sessionId });
    const open = "Open";
    if ((await say(`exported to ${path}`, open)) === open) {
      await vscode.window.showTextDocument(vscode.Uri.file(path));
    }
  },
  delete: async ({ server, updates }, sessionId, title) => {
    const sure = "Delete";
    const detail = "All that was said in it is deleted. What it changed in files stays.";
    const words = `Delete the session ${title === "" ? "without a title" : `“${line(title)}”`}?`;
    if ((await vscode.window.showWarningMessage(words, { modal: true, detail }, sure)) === sure) {
      await server.command("tark.session.delete", { sessionId });
      updates.deleted(sessionId);
    }
  },
};
