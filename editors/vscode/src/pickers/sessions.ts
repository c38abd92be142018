/** The sessions of the workspace in a list, and what can be done with the one that is chosen. */

import * as vscode from "vscode";
import { age, counted, money, row } from "../figures";
import { say } from "../notify";
import type { Optional, Session } from "../protocol";
import type { Parts } from "../parts";
import { line } from "../visible";

type Action = (parts: Parts, session: Session) => Promise<void>;
export type ActionName = "open" | "rename" | "delete" | "fork" | "export";

const ACTIONS: Readonly<Record<ActionName, readonly [verb: string, Action]>> = {
  open: ["Open", open],
  rename: ["Rename", rename],
  delete: ["Delete", remove],
  fork: ["Fork", fork],
  export: ["Export", exportSession],
};

interface Row extends vscode.QuickPickItem {
  readonly session?: Session;
}

const NEW: Row = { label: "$(add) A new session" };
const ELSEWHERE: Row = { label: "$(folder) Those of other workspaces, too…", alwaysShow: true };

/** Of this workspace, or of `all`. */
export async function chooseSession(parts: Parts, name: ActionName, all = false): Promise<void> {
  const [verb, act] = ACTIONS[name];
  const { sessions } = await parts.server.command<{ sessions: readonly Session[] }>("tark.session.list", { all });
  const rows = sessions.map((session): Row => ({ ...words(session, parts.server.state.sessionId), session }));
  const items: Row[] = name === "open" && !all ? [NEW, ...rows, ELSEWHERE] : rows;
  if (items.length === 0) {
    void say("there are no sessions");
    return;
  }
  const chosen = await vscode.window.showQuickPick<Row>(items, { title: `${verb} a session`, matchOnDescription: true });
  if (chosen === ELSEWHERE) {
    await chooseSession(parts, name, true);
  } else if (chosen === NEW) {
    goOn(parts, undefined);
  } else if (chosen?.session !== undefined) {
    await act(parts, chosen.session);
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

async function open(parts: Parts, session: Session): Promise<void> {
  await parts.sessions.open(session.sessionId);
  parts.updates.session(session);
  goOn(parts, session.sessionId);
}

async function rename({ server, updates }: Parts, { sessionId, title: value }: Session): Promise<void> {
  const title = (await vscode.window.showInputBox({ title: "Title of the session", value }))?.trim();
  if (title) {
    updates.session(await server.command<Session>("tark.session.rename", { sessionId, title }));
  }
}

async function remove({ server, updates }: Parts, { sessionId, title }: Session): Promise<void> {
  const what = `Delete the session “${line(title)}”?`;
  if ((await vscode.window.showWarningMessage(what, { modal: true }, "Delete")) === "Delete") {
    await server.command("tark.session.delete", { sessionId });
    updates.deleted(sessionId);
  }
}

async function fork(parts: Parts, { sessionId }: Session): Promise<void> {
  await open(parts, await parts.server.command<Session>("tark.session.fork", { sessionId }));
}

async function exportSession({ server }: Parts, { sessionId }: Session): Promise<void> {
  const formats = [
    { label: "Markdown", detail: "to read", format: "markdown" },
    { label: "JSON", detail: "to import again", format: "json" },
  ];
  const chosen = await vscode.window.showQuickPick(formats, { title: "Export as" });
  if (chosen !== undefined) {
    const { path } = await server.command<{ path: string }>("tark.session.export", { sessionId, format: chosen.format });
    if (await say(`exported to ${path}`, "Open")) {
      await vscode.window.showTextDocument(vscode.Uri.file(path));
    }
  }
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
