/** Lists the sessions of the workspace, to choose one and act on it. Imports and compacts sessions. */

import * as vscode from "vscode";
import type { Optional, Session } from "../model/protocol";
import type { Server } from "../model/server";
import { type SessionAction, sessionFigures, UNTITLED } from "../model/sessionRow";
import { joinParts } from "../text/figures";
import { listRow } from "../text/surfaces";
import { showInfo } from "../window/notify";
import { SESSION_ACTIONS, type SessionContext } from "./sessionActions";

export interface SessionPickerContext extends SessionContext {
  showChat(): void;
}

const TITLES: Readonly<Record<SessionAction, string>> = {
  open: "Open Session",
  rename: "Rename Session",
  fork: "Fork Session",
  export: "Export Session",
  delete: "Delete Session",
};

interface Row extends vscode.QuickPickItem {
  readonly session?: Session;
}

const NEW: Row = { label: "$(add) New Session" };
const ALL: Row = { label: "$(folder) Show Sessions of All Workspaces…", alwaysShow: true };

/** `all`: the sessions of other workspaces, too. */
export async function chooseSession(context: SessionPickerContext, action: SessionAction, all = false): Promise<void> {
  const { server } = context;
  const { sessions } = await server.executeCommand<{ sessions: readonly Session[] }>("tark.session.list", { all });
  const rows = sessions.map((session): Row => ({ ...sessionItem(session, server.state.sessionId), session }));
  const items: Row[] = action === "open" && !all ? [NEW, ...rows, ALL] : rows;
  if (items.length === 0) {
    void showInfo("there are no sessions");
    return;
  }
  const chosen = await vscode.window.showQuickPick<Row>(items, { title: TITLES[action], matchOnDescription: true });
  if (chosen === ALL) {
    await chooseSession(context, action, true);
  } else if (chosen === NEW) {
    showSession(context, undefined);
  } else if (chosen?.session !== undefined) {
    const { sessionId, title } = chosen.session;
    await SESSION_ACTIONS[action](context, sessionId, title);
    if (action === "open" || action === "fork") {
      context.showChat();
    }
  }
}

/** Imports a session that was exported as JSON. */
export async function importSession(context: SessionPickerContext): Promise<void> {
  const [file] = (await vscode.window.showOpenDialog({ title: "Import Session", filters: { JSON: ["json"] } })) ?? [];
  if (file !== undefined) {
    const argument = { import: file.fsPath };
    const { sessionId } = await context.server.executeCommand<{ sessionId: string }>("tark.session.new", argument);
    await context.sessions.openSession(sessionId);
    showSession(context, sessionId);
  }
}

/** Summarizes the older messages of the current session, to free space in the model's context window. */
export async function compactSession(server: Server): Promise<void> {
  const { sessionId } = server.state;
  if (sessionId === undefined) {
    throw new Error("there is no session yet");
  }
  type Compacted = Session & { tokensBefore: number; tokensAfter: number };
  const answer = await server.executeCommand<Optional<Compacted>>("tark.session.compact", { sessionId });
  server.state.emit("session", { sessionId }); // views of its context
  void showInfo(
    answer == null
      ? "the session is being compacted"
      : `the session was compacted from ${answer.tokensBefore} to ${answer.tokensAfter} tokens`,
  );
}

function showSession({ server, showChat }: SessionPickerContext, sessionId: string | undefined): void {
  server.state.setCurrentSession(sessionId);
  showChat();
}

function sessionItem(session: Session, current: string | undefined): vscode.QuickPickItem {
  return {
    label: listRow(session.title) || UNTITLED,
    description: listRow(joinParts(session.sessionId === current && "current", sessionFigures(session, Date.now()))),
  };
}
