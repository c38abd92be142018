/**
 * What each command does. The ids are `tark.client.*`, because the language client registers the server's own `tark.*`.
 *
 * To add a command, write a row here, its function in a feature file, and its title in package.json.
 */

import * as vscode from "vscode";
import type { Inputs } from "./asking/inputs";
import type { Permissions } from "./asking/permissions";
import { showPendingRequests } from "./asking/requestList";
import type { Chats } from "./chat/chats";
import type { CommitMessages } from "./commit/commitMessage";
import type { McpServers } from "./mcp/servers";
import type { RunningTurns } from "./model/runningTurns";
import type { Sessions } from "./model/sessions";
import type { Updates } from "./model/updates";
import { logIn, logOut, setKey } from "./pickers/login";
import { managePermissions } from "./pickers/permissions";
import { editPlace } from "./pickers/place";
import { chooseAgent } from "./pickers/agents";
import { choosePrompt } from "./pickers/prompts";
import { chooseSession, compactSession, importSession, type SessionPickerContext } from "./pickers/sessions";
import { chooseLevel, chooseModel } from "./pickers/settings";
import type { Review } from "./review/review";
import type { Client } from "./server/client";
import type { Secrets } from "./server/secrets";
import type { ContextPage } from "./status/contextPage";
import type { Doctor } from "./status/doctor";
import { showStatusMenu } from "./status/menu";
import type { Reports } from "./status/report";
import { approvePlan } from "./turns/approvePlan";
import { redoOldest } from "./turns/redo";
import type { Restore } from "./turns/restore";
import { runOnProblem } from "./turns/problems";
import { stopAll, stopSession } from "./turns/stop";
import type { Turns } from "./turns/turns";
import type { Undo } from "./turns/undo";
import type { InlineBox } from "./window/inlineBox";
import { reportErrors } from "./window/notify";

/** The parts of the extension that commands call. */
export interface Features {
  readonly client: Client;
  readonly secrets: Secrets;
  readonly updates: Updates;
  readonly sessions: Sessions;
  readonly turns: Turns;
  readonly runningTurns: RunningTurns;
  readonly undo: Undo;
  readonly restore: Restore;
  readonly chat: Chats;
  readonly review: Review;
  readonly permissions: Permissions;
  readonly inputs: Inputs;
  readonly inline: InlineBox;
  readonly reports: Reports;
  readonly doctor: Doctor;
  readonly contextPage: ContextPage;
  readonly commitMessages: CommitMessages;
  readonly mcp: McpServers;
  install(): Promise<void>;
}

/** `target`: what a code lens, a list row or a menu passes as its first argument. */
type Command = (features: Features, target: unknown) => unknown;

const COMMANDS: Readonly<Record<string, Command>> = {
  agent: ({ turns }) => turns.startFromEditor("agent"),
  ask: ({ turns }) => turns.startFromEditor("ask"),
  edit: ({ client, turns }) => editPlace(client, turns),
  explain: ({ turns }) => turns.startFromEditor("explain"),
  fix: ({ turns }) => turns.startFromEditor("fix"),
  test: ({ turns }) => turns.startFromEditor("test"),
  document: ({ turns }) => turns.startFromEditor("document"),
  fixProblem: ({ turns }, target) => runOnProblem(turns, "fix", target),
  explainProblem: ({ turns }, target) => runOnProblem(turns, "explain", target),
  sendInline: ({ inline }) => inline.send(),
  closeInline: ({ inline }) => inline.close(),
  inlinePrevious: ({ inline }) => inline.recall(-1),
  inlineNext: ({ inline }) => inline.recall(1),
  prompt: ({ client, turns }) => choosePrompt(client, turns),
  reviewChanges: ({ turns }) => turns.startAbout({ kind: "agent", prompt: "/review" }),
  stop: ({ client, runningTurns }) => stopSession(client, runningTurns),
  stopAll: ({ client, runningTurns }) => stopAll(client, runningTurns),
  undo: ({ undo }) => undo.undoLast(),
  redo: ({ client, chat }) => redoOldest(client, (sessionId) => chat.shows(sessionId)),
  restore: async ({ restore, chat }) => {
    const words = await restore.choosePrompt();
    return words === undefined ? undefined : chat.giveBack(words);
  },
  approvePlan: ({ client, turns }) => approvePlan(client, turns),

  generateCommitMessage: ({ commitMessages }, target) => commitMessages.generate(target),
  stopCommitMessage: ({ commitMessages }) => commitMessages.stop(),

  chat: ({ chat }) => chat.openChat(),
  chatInEditor: ({ chat }) => chat.openInEditor(),
  chatInNewTab: ({ chat }) => chat.openTab(),
  newSession: ({ chat }) => chat.startNewSession(),
  sessions: (features) => chooseSession(sessionContext(features), "open"),
  renameSession: (features) => chooseSession(sessionContext(features), "rename"),
  deleteSession: (features) => chooseSession(sessionContext(features), "delete"),
  forkSession: (features) => chooseSession(sessionContext(features), "fork"),
  exportSession: (features) => chooseSession(sessionContext(features), "export"),
  importSession: (features) => importSession(sessionContext(features)),
  compact: ({ client }) => compactSession(client),

  acceptHunk: ({ review }, target) => review.decideHunks("accept", "hunk", target),
  rejectHunk: ({ review }, target) => review.decideHunks("reject", "hunk", target),
  acceptFile: ({ review }, target) => review.decideHunks("accept", "file", target),
  rejectFile: ({ review }, target) => review.decideHunks("reject", "file", target),
  acceptAll: ({ review }) => review.decideHunks("accept", "all"),
  rejectAll: ({ review }) => review.decideHunks("reject", "all"),
  keepHunk: ({ review }, target) => review.decideHunks("accept", "hunk", target),
  undoHunk: ({ review }, target) => review.decideHunks("reject", "hunk", target),
  keepFile: ({ review }, target) => review.decideHunks("accept", "file", target),
  undoFile: ({ review }, target) => review.decideHunks("reject", "file", target),
  keepAll: ({ review }) => review.decideHunks("accept", "all"),
  undoAll: ({ review }) => review.decideHunks("reject", "all"),
  reviewAll: ({ review }) => review.reviewAll(),
  regenerateHunk: ({ review }, target) => review.regenerateHunk(target),
  editHunk: ({ review }, target) => review.editHunk(target),
  diff: ({ review }, target) => review.showDiff(target),
  nextHunk: ({ review }, target) => review.goToHunk("next", target),
  previousHunk: ({ review }, target) => review.goToHunk("previous", target),
  showChanges: ({ review }) => review.showList(),

  permission: ({ permissions }, target) => permissions.showPermission(requestIdOf(target)),
  input: ({ inputs }, target) => inputs.showInput(requestIdOf(target)),
  waiting: ({ client, permissions, inputs }) => showPendingRequests(client.state, { permissions, inputs }),

  mcp: ({ mcp }) => mcp.show(),
  mcpAdd: ({ mcp }) => mcp.add(),
  mcpApprove: ({ mcp }, target) => mcp.approveRow(target),
  mcpYes: ({ mcp }, target) => mcp.answer(target, true),
  mcpNo: ({ mcp }, target) => mcp.answer(target, false),
  mcpRestart: ({ mcp }, target) => mcp.restart(target),
  mcpLog: ({ mcp }, target) => mcp.showLog(target),
  mcpRemove: ({ mcp }, target) => mcp.remove(target),

  selectModel: ({ client }) => chooseModel(client),
  selectAgent: ({ client, mcp }) => chooseAgent(client, (name, then) => mcp.approveAgent(name, then)),
  selectMode: ({ client }) => chooseLevel(client, "mode"),
  managePermissions: ({ client }) => managePermissions(client),
  selectApproval: ({ client }) => chooseLevel(client, "approval"),
  login: (features, target) => logIn(features, target),
  logout: ({ client, secrets }) => logOut(client, secrets),
  setKey: (features, target) => setKey(features, target),

  menu: ({ client }) => showStatusMenu(client),
  showUsage: ({ reports }) => reports.showUsage(),
  showContext: ({ contextPage }) => contextPage.show(),
  doctor: ({ doctor }) => doctor.show(),
  restart: ({ client }) => client.restartForUser(),
  install: ({ install }) => install(),
  showOutput: ({ client }) => client.log.show(),
  settings: () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:tark.tark"),
};

export function registerCommands(context: vscode.ExtensionContext, features: Features): void {
  for (const [name, command] of Object.entries(COMMANDS)) {
    const run = (target: unknown): Thenable<unknown> => reportErrors(() => command(features, target));
    context.subscriptions.push(vscode.commands.registerCommand(`tark.client.${name}`, run));
  }
}

function sessionContext({ client, updates, sessions, chat }: Features): SessionPickerContext {
  return { server: client, updates, sessions, showChat: () => void chat.showChat({ focus: true }) };
}

function requestIdOf(target: unknown): string | undefined {
  return typeof target === "string" ? target : undefined;
}
