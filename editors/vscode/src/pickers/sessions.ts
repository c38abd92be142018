/** The sessions of the workspace in a list, to choose one that something is done with. */

import * as vscode from "vscode";
import type { SessionAction } from "../chat/messages";
import { age, counted, money, row } from "../text/figures";
import { say } from "../status/notify";
import type { Optional, Session } from "../model/protocol";
import type { Parts } from "../parts";
import { SESSION_ACTIONS } from "./sessionActions";
import { line } from "../text/visible";

const VERBS: Readonly<Record<SessionAction, string>> = {
  open: "Open",
  rename: "Rename",
  fork: "Fork",
  export: "Export",
  delete: "Delete",
};

interface Row extends vscode.QuickPickItem {
  readonly session?: Session;
}

const NEW: Row = { label: "$(add) A new session" };
const ELSEWHERE: Row = { label: "$(folder) Those of other workspaces, too…", alwaysShow: true };

/** Of this workspace, or of `all`. */
export async function chooseSession(parts: Parts, name: SessionAction, all = false): Promise<void> {
  const { sessions } = await parts.server.command<{ sessions: readonly Session[] }>("tark.session.list", { all });
  const rows = sessions.map((session): Row => ({ ...words(session, parts.server.state.sessionId), session }));
  const items: Row[] = name === "open" && !all ? [NEW, ...rows, ELSEWHERE] : rows;
  if (items.length === 0) {
    void say("there are no sessions");
    return;
  }
  const chosen = await vscode.window.showQuickPick<Row>(items, { title: `${VERBS[name]} a session`, matchOnDescription: true });
  if (chosen === ELSEWHERE) {
    await chooseSession(parts, name, true);
  } else if (chosen === NEW) {
    goOn(parts, undefined);
  } else if (chosen?.session !== undefined) {
    const { sessionId, title } = chosen.session;
    await SESSION_ACTIONS[name](parts, sessionId, title);
    if (name === "open" || name === "fork") {
      void parts.chat.show({ focus: true });
    }
  }
}

/** A session that was exported as JSON. */
export async function importSession(parts: Parts): Promise<void> {
  const [file] = (await vscode.window.showOpenDialog({ title: "Import a session", filters: { JSON: ["json"] } })) ?? [];
  if (file !== undefined) {
    const { sessionId } = await parts.server.command<{ sessionId: string }>("tark.session.new", { import: file.fsPath });
    await parts.sessions.open(sessionId);
    goOn(parts, sessionId);
  }
}

/** What it says less of, to make room for more. */
export async function compactSession({ server }: Parts): Promise<void> {
  const { sessionId } = server.state;
  if (sessionId === undefined) {
    throw new Error("there is no session yet");
  }
  type Compacted = Session & { tokensBefore: number; tokensAfter: number };
  const answer = await server.command<Optional<Compacted>>("tark.session.compact", { sessionId });
  void say(answer == null ? "the session is being compacted" : `the session has ${answer.tokensAfter} tokens now, and had ${answer.tokensBefore}`);
}

function goOn({ server, chat }: Parts, sessionId: string | undefined): void {
  server.state.goOn(sessionId);
  void chat.show({ focus: true });
}

function words(session: Session, current: string | undefined): vscode.QuickPickItem {
  return {
    label: line(session.title) || "(no title)",
    description: row(
      session.sessionId === current && "current",
      age(session.updated, Date.now()),
      counted(session.turns, "turn"),
      session.model,
      money(session.costUsd),
      session.readOnly === true && "read-only",
    ),
  };
}
