/** Puts the parts of the extension together, and nothing else. */

import * as vscode from "vscode";
import { autostart } from "./autostart";
import { ChatView } from "./chat/view";
import { registerCommands } from "./commands";
import { Drafts } from "./turns/drafts";
import { watchEndings } from "./status/endings";
import { executed } from "./turns/executed";
import { Inputs } from "./asking/input";
import { watchEditors } from "./turns/lastFileEditor";
import type { Core, Parts } from "./parts";
import { Permissions } from "./asking/permission";
import { Progress } from "./status/progress";
import { Reports } from "./status/report";
import { Review } from "./review/review";
import { RunningTurns } from "./model/runningTurns";
import { Client } from "./server/client";
import { install } from "./server/install";
import { Secrets } from "./server/secrets";
import { Sessions } from "./model/sessions";
import { State } from "./model/state";
import { Status } from "./status/status";
import { Turns } from "./turns/turn";
import { Undo } from "./turns/undo";
import { Updates } from "./model/updates";
import { Waiting } from "./asking/waiting";

let client: Client | undefined;

/** What tests of the extension look at. */
export type Api = Pick<Parts, "server" | "client">;

export function activate(context: vscode.ExtensionContext): Api {
  const state = new State((problem) => console.error("Tark:", problem));
  const running = new RunningTurns(state);
  const secrets = new Secrets(context);
  const updates = new Updates(
    state,
    (uri) => vscode.Uri.parse(uri).toString(),
    (sessionId) => void sessions.reload(sessionId).catch(() => undefined), // the session is drawn with a gap until then
  );
  const waiting: Waiting = new Waiting(state, (kind, argument) => server.command(`tark.${kind}.answer`, argument));
  const progress = new Progress(() => status.changed());
  const server: Client = new Client(context, state, updates, running, secrets, {
    permission: (request, token) => waiting.ask("permission", request, token),
    input: (request, token) => waiting.ask("input", request, token),
    progress: (token, told, cancel) => progress.told(token, told, cancel),
    execute: (command, given, next) => executed(parts, command, given, next),
  });
  client = server;
  const sessions: Sessions = new Sessions(server, updates);
  const drafts = (of: string): Drafts => new Drafts(context.workspaceState, `tark.drafts.${of}`);
  const turns = new Turns(server, updates, sessions, running, drafts("prompts"), (kind) => showFor(parts.chat, kind));
  const undo = new Undo(server, running);
  const status: Status = new Status(state, running, progress);
  const core: Core = { server, updates, waiting, sessions, turns, running, undo };
  const parts: Parts = {
    ...core,
    client: server,
    secrets,
    reports: new Reports(server, (context.extension.packageJSON as { version: string }).version),
    chat: new ChatView(context, core),
    review: new Review(drafts("review"), core),
    permissions: new Permissions(core),
    inputs: new Inputs(drafts("questions"), core),
    install: () => install(context, server),
  };
  context.subscriptions.push(
    ...[server, status, progress, watchEditors(), parts.reports, parts.chat, parts.review, parts.permissions, parts.inputs],
    state.on("server", ({ running: there }) => {
      if (!there) {
        progress.clear();
      }
    }),
    watchEndings(state, () => parts.chat.visible),
    autostart(context, server),
  );
  registerCommands(context, parts);
  return { server, client: server };
}

/** VS Code waits for the server to end. */
export async function deactivate(): Promise<void> {
  await client?.deactivate();
}

function showFor(chat: ChatView, kind: string): void {
  const kinds = vscode.workspace.getConfiguration("tark").get<readonly string[]>("chat.opensFor", []);
  if (kinds.includes(kind)) {
    void chat.show({ focus: false });
  }
}
