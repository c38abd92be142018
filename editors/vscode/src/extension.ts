/** Creates the parts of the extension and connects them. */

import * as vscode from "vscode";
import { Inputs } from "./asking/inputs";
import { Permissions } from "./asking/permissions";
import { followUnshownRequests } from "./asking/unshownRequests";
import { completeInlineMentions } from "./chat/inlineMentions";
import { Chats } from "./chat/chats";
import { CommitMessages } from "./commit/commitMessage";
import { type Features, registerCommands } from "./commands";
import { McpServers } from "./mcp/servers";
import { PendingRequests } from "./model/pendingRequests";
import { RunningTurns } from "./model/runningTurns";
import type { Server } from "./model/server";
import { Sessions } from "./model/sessions";
import { State } from "./model/state";
import { Updates } from "./model/updates";
import { Review } from "./review/review";
import { autostart } from "./server/autostart";
import { Client } from "./server/client";
import { installServer } from "./server/install";
import { demoOfWindow } from "./server/demo";
import { Setup } from "./setup/setup";
import { Secrets } from "./server/secrets";
import { ContextPage } from "./status/contextPage";
import { Doctor } from "./status/doctor";
import { watchEndings } from "./status/endings";
import { trackWalkthroughSteps } from "./status/walkthroughSteps";
import { Progress } from "./status/progress";
import { openProgressToast } from "./status/progressToast";
import { Reports } from "./status/report";
import { StatusItem } from "./status/status";
import { offerProblemActions } from "./turns/problems";
import { runServerCommand } from "./turns/serverCommands";
import { Restore } from "./turns/restore";
import { Turns } from "./turns/turns";
import { Undo } from "./turns/undo";
import { Drafts } from "./window/drafts";
import { InlineBox } from "./window/inlineBox";
import { showResult } from "./window/notify";
import { PromptHistory } from "./window/promptHistory";
import { trackLastFileEditor } from "./window/lastFileEditor";

const DEMO_SHOWN = "tark.demo.shown"; // workspace state

let running: Client | undefined;

/** What tests of the extension read. */
export interface Api {
  readonly server: Server;
  readonly client: Client;
}

export function activate(context: vscode.ExtensionContext): Api {
  const state = new State((problem) => console.error("Tark:", problem));
  const runningTurns = new RunningTurns(state);
  const secrets = new Secrets(context);
  const updates = new Updates(
    state,
    (uri) => vscode.Uri.parse(uri).toString(),
    (sessionId) => void sessions.reloadSession(sessionId).catch(() => undefined), // until then the chat shows a gap
  );
  const pending: PendingRequests = new PendingRequests(state, (kind, argument) =>
    client.executeCommand(`tark.${kind}.answer`, argument),
  );
  const progress = new Progress(state, {
    changed: () => status.scheduleRedraw(),
    isChatVisible: () => chat.visible,
    openToast: openProgressToast,
    showResult,
  });
  const client: Client = new Client(context, state, updates, runningTurns, secrets, {
    onPermission: (request, token) => pending.addRequest("permission", request, token),
    onInput: (request, token) => pending.addRequest("input", request, token),
    onProgress: (token, value, cancel) => progress.updateProgress(token, value, cancel),
    onExecute: (command, given, next) => runServerCommand({ state, turns, inputs }, command, given, next),
  });
  running = client;
  const sessions: Sessions = new Sessions(client, updates);
  const draftsOf = (name: string): Drafts => new Drafts(context.workspaceState, `tark.drafts.${name}`);
  const drafts = draftsOf("prompts");
  const inline = new InlineBox(drafts, new PromptHistory(context.workspaceState, "tark.history"));
  const turns: Turns = new Turns(client, updates, sessions, runningTurns, drafts, inline, (kind) => showChatFor(chat, kind));
  const undo = new Undo(client, runningTurns, (sessionId) => chat.shows(sessionId));
  const restore = new Restore(client, sessions);
  const status: StatusItem = new StatusItem(state, runningTurns, progress);
  const setup = new Setup(context, { client, secrets, runningTurns });
  const chat: Chats = new Chats(context, { server: client, updates, pending, sessions, turns, undo, restore, setup });
  const review = new Review(draftsOf("review"), client);
  const permissions = new Permissions(state, pending, chat);
  const inputs: Inputs = new Inputs(draftsOf("questions"), state, pending, chat);
  const reports = new Reports(client);
  const doctor = new Doctor(client, (context.extension.packageJSON as { version: string }).version);
  const contextPage = new ContextPage(client);
  const mcp = new McpServers(client);
  const install = (): Promise<void> => installServer(context, client);
  const features: Features = {
    ...{ client, secrets, updates, sessions, turns, runningTurns, undo, restore },
    ...{ chat, review, permissions, inputs, inline, reports, doctor, contextPage, install, mcp },
    commitMessages: new CommitMessages(client),
  };
  context.subscriptions.push(
    ...[client, status, progress, trackLastFileEditor(), reports, doctor, contextPage, chat, review, permissions, inputs, inline, mcp, completeInlineMentions(client, inline)],
    state.on("server", (server) => !server.running && progress.clear()),
    chat.onDidChangeVisibility(() => progress.redraw()),
    watchEndings(state, chat),
    followUnshownRequests(state, chat),
    autostart(context, client),
    offerProblemActions(),
    setup,
    trackWalkthroughSteps(state),
  );
  registerCommands(context, features);
  void showDemo(context, chat);
  return { server: client, client };
}

/** VS Code waits until the server has ended. */
export async function deactivate(): Promise<void> {
  await running?.deactivate();
}

/** When the window of a demo opens for the first time, shows its file, and its prompt in the chat. */
async function showDemo(context: vscode.ExtensionContext, chat: Chats): Promise<void> {
  const demo = demoOfWindow(context);
  if (demo !== undefined && context.workspaceState.get(DEMO_SHOWN) !== true) {
    await context.workspaceState.update(DEMO_SHOWN, true);
    chat.suggestPrompt(demo.prompt);
    await vscode.window.showTextDocument(vscode.Uri.file(demo.file), { preview: false });
    await chat.showChat({ focus: true });
  }
}

function showChatFor(chat: Chats, kind: string): void {
  const kinds = vscode.workspace.getConfiguration("tark").get<readonly string[]>("chat.opensFor", []);
  if (kinds.includes(kind)) {
    void chat.showChat({ focus: false });
  }
}
