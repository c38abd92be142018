/** Puts the parts of the extension together, and nothing else. */

import * as vscode from "vscode";
import { ChatView } from "./chat/view";
import { registerCommands } from "./commands";
import { Inputs } from "./input";
import type { Core, Parts } from "./parts";
import { Permissions } from "./permission";
import { Review } from "./review/review";
import { Client } from "./server/client";
import { Sessions } from "./sessions";
import { State } from "./state";
import { Turns } from "./turn";
import { Updates } from "./updates";
import { Waiting } from "./waiting";

export function activate(context: vscode.ExtensionContext): void {
  const state = new State((problem) => console.error("Tark:", problem));
  const server = new Client(context, state);
  const updates = new Updates(
    state,
    (uri) => vscode.Uri.parse(uri).toString(),
    (sessionId) => void sessions.reload(sessionId),
  );
  const waiting = new Waiting(state, (kind, argument) => server.command(`tark.${kind}.answer`, argument));
  const sessions = new Sessions(server, updates);
  const turns = new Turns(server, updates, sessions);
  const core: Core = { server, updates, waiting, sessions, turns };
  const parts: Parts = {
    ...core,
    chat: new ChatView(context, core),
    review: new Review(context, core),
    permissions: new Permissions(context, core),
    inputs: new Inputs(context, core),
  };
  context.subscriptions.push(server, parts.chat, parts.review, parts.permissions, parts.inputs);
  registerCommands(context, parts);
}
