/** What can be done with a session that was chosen from a list. What cannot be undone is asked about. */

import * as vscode from "vscode";
import type { SessionAction } from "../chat/messages";
import { say } from "../status/notify";
import type { Core } from "../parts";
import type { Session } from "../model/protocol";
import { line } from "../text/visible";

type Act = (core: Core, sessionId: string, title: string) => Promise<void>;

const FORMATS = [
  { label: "Markdown", detail: "to read", format: "markdown" },
  { label: "JSON", detail: "to import again", format: "json" },
];

export const SESSION_ACTIONS: Readonly<Record<SessionAction, Act>> = {
  open: async ({ sessions, server }, sessionId) => {
    await sessions.open(sessionId);
    server.state.goOn(sessionId);
  },
  rename: async ({ server, updates }, sessionId, value) => {
    const title = (await vscode.window.showInputBox({ title: "Title of the session", value }))?.trim();
    if (title) {
      updates.session(await server.command<Session>("tark.session.rename", { sessionId, title }));
    }
  },
  fork: async (core, sessionId, title) => {
    const session = await core.server.command<Session>("tark.session.fork", { sessionId });
    await SESSION_ACTIONS.open(core, session.sessionId, title);
  },
  export: async ({ server }, sessionId) => {
    const chosen = await vscode.window.showQuickPick(FORMATS, { title: "Export as" });
    if (chosen === undefined) {
      return;
    }
    const { path } = await server.command<{ path: string }>("tark.session.export", { sessionId, format: chosen.format });
    if (await say(`exported to ${path}`, "Open")) {
      await vscode.window.showTextDocument(vscode.Uri.file(path));
    }
  },
  delete: async ({ server, updates }, sessionId, title) => {
    const detail = "All that was said in it is deleted. What it changed in files stays.";
    const what = `Delete the session ${title === "" ? "without a title" : `“${line(title)}”`}?`;
    if ((await vscode.window.showWarningMessage(what, { modal: true, detail }, "Delete")) === "Delete") {
      await server.command("tark.session.delete", { sessionId });
      updates.deleted(sessionId);
    }
  },
};
