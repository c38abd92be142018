/** Chooses the model, the mode and the approval level of a session. agents.ts chooses its custom agent. */

import * as vscode from "vscode";
import type { EffectiveSettings } from "../model/protocol";
import type { Client } from "../server/client";
import type { Server } from "../model/server";
import { pickModel } from "./models";

type Setting = "model" | "mode" | "approval" | "agent";

/** The values with their meanings, from the most to the least cautious. */
const CHOICES: Readonly<Record<"mode" | "approval", readonly (readonly [name: string, means: string])[]>> = {
  mode: [
    ["ask", "Answers, changes nothing"],
    ["plan", "Explores and plans, changes nothing"],
    ["build", "Reads, edits, runs commands"],
  ],
  approval: [
    ["manual", "Asks before every edit and command, regardless of other settings"],
    ["careful", "Applies edits at once, for your review; asks before commands that can write"],
    ["balanced", "Also runs ordinary commands in the sandbox without asking, if you trust the workspace"],
  ],
};
const TITLES = { model: "Model", mode: "Mode", approval: "Approval Level", agent: "Agent" };

export async function chooseLevel(server: Client, setting: "mode" | "approval"): Promise<void> {
  await server.ensureRunning();
  const now = current(server)?.[setting];
  const items = CHOICES[setting].map(([label, meaning]) => ({ label, detail: meaning, description: label === now ? "current" : "" }));
  const chosen = await vscode.window.showQuickPick(items, { title: settingTitle(server, setting) });
  if (chosen !== undefined) {
    await applySetting(server, setting, chosen.label);
  }
}

export async function chooseModel(server: Client): Promise<void> {
  const chosen = await pickModel(server, settingTitle(server, "model"), () => current(server)?.model ?? "");
  if (chosen !== undefined) {
    await applySetting(server, "model", chosen);
  }
}

export async function applySetting(server: Client, setting: Setting, value: string): Promise<void> {
  const { state } = server;
  const { sessionId } = state;
  const answer = await server.executeCommand<EffectiveSettings>("tark.settings.set", { [setting]: value, sessionId });
  const session = sessionId === undefined ? undefined : state.sessions.get(sessionId);
  if (session !== undefined) {
    state.sessions.set(session.sessionId, { ...session, ...answer });
  } else if (sessionId === undefined) {
    state.settings = { ...state.settings, ...answer };
    if (setting !== "agent") { // it is not a setting: it lasts until the server ends
      await vscode.workspace.getConfiguration("tark").update(setting, value, vscode.ConfigurationTarget.Global); // persistent
      await server.markSettingApplied(setting);
    }
  }
  state.emit("session", sessionId === undefined ? {} : { sessionId });
}

/** The settings of the current session, else of new sessions. */
export function current({ state }: Server): EffectiveSettings | undefined {
  const session = state.sessionId === undefined ? undefined : state.sessions.get(state.sessionId);
  return session === undefined ? state.settings : { model: session.model, mode: session.mode, approval: session.approval, agent: session.agent };
}

export function settingTitle({ state }: Server, setting: Setting): string {
  return `${TITLES[setting]} of ${state.sessionId === undefined ? "New Sessions" : "This Session"}`;
}
