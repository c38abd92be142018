/** What each command of the palette does. Ids are `tark.client.*`: the language client takes the server's own. */

import * as vscode from "vscode";
import { menu } from "./status/menu";
import { say, telling } from "./status/notify";
import type { Parts } from "./parts";
import { logIn, logOut, setKey } from "./pickers/login";
import { choosePrompt } from "./pickers/prompts";
import { chooseSession, compactSession, importSession } from "./pickers/sessions";
import { chooseLevel, chooseModel } from "./pickers/settings";
import { showWaiting } from "./asking/waitingList";

type Command = (parts: Parts, ...given: unknown[]) => unknown;

/** A lens, a row of the list or a menu hands over what it stands for as the first argument. */
const COMMANDS: Readonly<Record<string, Command>> = {
  agent: ({ turns }) => turns.start("agent"),
  ask: ({ turns }) => turns.start("ask"),
  edit: ({ turns }) => turns.start("edit"),
  explain: ({ turns }) => turns.start("explain"),
  fix: ({ turns }) => turns.start("fix"),
  test: ({ turns }) => turns.start("test"),
  document: ({ turns }) => turns.start("document"),
  prompt: choosePrompt,
  stop: stopSession,
  stopAll: (parts) => stop(parts, {}),
  undo: ({ undo }) => undo.last(),

  chat: ({ chat }) => chat.show({ focus: true }),
  newSession: ({ server, chat }) => {
    server.state.goOn(undefined);
    return chat.show({ focus: true });
  },
  sessions: (parts) => chooseSession(parts, "open"),
  renameSession: (parts) => chooseSession(parts, "rename"),
  deleteSession: (parts) => chooseSession(parts, "delete"),
  forkSession: (parts) => chooseSession(parts, "fork"),
  exportSession: (parts) => chooseSession(parts, "export"),
  importSession,
  compact: compactSession,

  acceptHunk: ({ review }, target) => review.decide("accept", "hunk", target),
  rejectHunk: ({ review }, target) => review.decide("reject", "hunk", target),
  acceptFile: ({ review }, target) => review.decide("accept", "file", target),
  rejectFile: ({ review }, target) => review.decide("reject", "file", target),
  acceptAll: ({ review }) => review.decide("accept", "all"),
  rejectAll: ({ review }) => review.decide("reject", "all"),
  regenerateHunk: ({ review }, target) => review.regenerate(target),
  editHunk: ({ review }, target) => review.edit(target),
  diff: ({ review }, target) => review.diff(target),
  nextHunk: ({ review }) => review.go("next"),
  previousHunk: ({ review }) => review.go("previous"),
  showChanges: () => vscode.commands.executeCommand("tark.changes.focus"),

  permission: ({ permissions }, requestId) => permissions.show(idOf(requestId)),
  input: ({ inputs }, requestId) => inputs.show(idOf(requestId)),
  waiting: showWaiting,

  selectModel: ({ client }) => chooseModel(client),
  selectMode: ({ client }) => chooseLevel(client, "mode"),
  selectApproval: ({ client }) => chooseLevel(client, "approval"),
  login: ({ server, secrets }) => logIn(server, secrets),
  logout: ({ server, secrets }) => logOut(server, secrets),
  setKey: ({ server, secrets }) => setKey(server, secrets),

  menu: ({ server }) => menu(server),
  showUsage: ({ reports }) => reports.usage(),
  showContext: ({ reports }) => reports.context(),
  doctor: ({ reports }) => reports.doctor(),
  restart: async ({ client }) => {
    await client.restart();
    void say("the server was started anew");
  },
  install: (parts) => parts.install(),
  showOutput: ({ client }) => client.log.show(),
};

export function registerCommands(context: vscode.ExtensionContext, parts: Parts): void {
  for (const [name, command] of Object.entries(COMMANDS)) {
    const run = (...given: unknown[]): Thenable<unknown> => telling(() => command(parts, ...given));
    context.subscriptions.push(vscode.commands.registerCommand(`tark.client.${name}`, run));
  }
}

/** The one that goes on; where a new one is to begin, nothing of it can run. */
async function stopSession(parts: Parts): Promise<void> {
  const { sessionId } = parts.server.state;
  if (sessionId === undefined) {
    sayNothingRuns(parts);
  } else {
    await stop(parts, { sessionId });
  }
}

async function stop(parts: Parts, turns: { sessionId?: string }): Promise<void> {
  const { server } = parts;
  const { cancelled } = server.running
    ? await server.command<{ cancelled: readonly string[] }>("tark.turn.cancel", turns)
    : { cancelled: [] };
  if (cancelled.length === 0) {
    sayNothingRuns(parts);
  }
}

function sayNothingRuns({ running }: Parts): void {
  const elsewhere = running.count > 0 ? ' in this session, but elsewhere: "Tark: Stop All Turns"' : "";
  void say(`nothing is running${elsewhere}`);
}

function idOf(given: unknown): string | undefined {
  return typeof given === "string" ? given : undefined;
}
