/** Sets the model of new sessions, and of the current session if it has none. */

import * as vscode from "vscode";
import type { EffectiveSettings } from "../model/protocol";
import type { Client } from "../server/client";

export async function useModel(client: Client, model: string): Promise<void> {
  const { state } = client;
  const answer = await client.executeCommand<EffectiveSettings>("tark.settings.set", { model });
  state.settings = { ...state.settings, ...answer };
  await vscode.workspace.getConfiguration("tark").update("model", model, vscode.ConfigurationTarget.Global); // persistent
  await client.markSettingApplied("model");
  const session = state.sessions.get(state.sessionId ?? "");
  if (session !== undefined && !session.model) {
    const own = await client.executeCommand<EffectiveSettings>("tark.settings.set", { model, sessionId: session.sessionId });
    state.sessions.set(session.sessionId, { ...session, ...own });
  }
  state.emit("session", {});
}
