/** Which model a session has, and what it may do: its mode and its approval level. */

import * as vscode from "vscode";
import { row, short } from "../text/figures";
import { say, warn } from "../status/notify";
import type { EffectiveSettings, Optional } from "../model/protocol";
import type { Client } from "../server/client";
import type { Server } from "../server/server";
import { line } from "../text/visible";

interface Model {
  readonly id: string;
  readonly name?: Optional<string>;
  readonly contextWindow?: Optional<number>;
  readonly price?: Optional<{ readonly input?: Optional<number>; readonly output?: Optional<number> }>;
}

interface Listed {
  readonly models: readonly Model[];
  readonly problems: readonly string[];
}

type Setting = "model" | "mode" | "approval";

/** What each means, in the order of how much is done unasked. */
const CHOICES: Readonly<Record<"mode" | "approval", readonly (readonly [name: string, means: string])[]>> = {
  mode: [
    ["ask", "answers in words, changes nothing"],
    ["plan", "explores and plans, changes nothing"],
    ["build", "reads, changes, runs commands"],
  ],
  approval: [
    ["manual", "asks before every edit and command, whatever else is set"],
    ["careful", "asks before edits and commands"],
    ["balanced", "applies edits at once, to be reviewed after"],
  ],
};
const TITLES = { model: "Model", mode: "Mode", approval: "Approval level" };

export async function chooseLevel(server: Client, setting: "mode" | "approval"): Promise<void> {
  await server.ensure();
  const now = current(server)?.[setting];
  const items = CHOICES[setting].map(([label, detail]) => ({ label, detail, description: label === now ? "now" : "" }));
  const chosen = await vscode.window.showQuickPick(items, { title: title(server, setting) });
  if (chosen !== undefined) {
    await set(server, setting, chosen.label);
  }
}

export async function chooseModel(server: Client): Promise<void> {
  await server.ensure();
  const listing = server.command<Listed>("tark.models.list").then(({ models, problems }) => {
    for (const problem of problems) {
      void warn(problem);
    }
    if (models.length === 0) {
      throw new Error('no provider has told of a model: "Tark: Set an API Key" gives one a key');
    }
    const now = current(server)?.model;
    return models.map((model) => ({ label: line(model.id), id: model.id, description: model.id === now ? "now" : "", detail: detail(model) }));
  });
  const chosen = await vscode.window.showQuickPick(listing, { title: title(server, "model"), matchOnDetail: true });
  if (chosen !== undefined) {
    await set(server, "model", chosen.id);
  }
}

function detail({ id, name, contextWindow, price }: Model): string {
  const { input, output } = price ?? {};
  return row(
    name && name !== id ? line(name) : undefined,
    contextWindow != null && `${short(contextWindow)} window`,
    input != null && output != null && `$${input} in, $${output} out for 1M tokens`,
  );
}

async function set(server: Client, setting: Setting, value: string): Promise<void> {
  const { state } = server;
  const { sessionId } = state;
  const answer = await server.command<EffectiveSettings>("tark.settings.set", { [setting]: value, sessionId });
  const session = sessionId === undefined ? undefined : state.sessions.get(sessionId);
  if (session !== undefined) {
    state.sessions.set(session.sessionId, { ...session, ...answer });
  } else if (sessionId === undefined) {
    state.settings = { ...state.settings, ...answer };
    await vscode.workspace.getConfiguration("tark").update(setting, value, vscode.ConfigurationTarget.Global); // to last
    await server.knows(setting);
  }
  state.emit("session", sessionId === undefined ? {} : { sessionId });
  void say(`${TITLES[setting].toLowerCase()} of ${whose(sessionId)} is ${answer[setting] ?? value}`);
}

/** Of the current session, else of new ones. */
function current({ state }: Server): EffectiveSettings | undefined {
  const session = state.sessionId === undefined ? undefined : state.sessions.get(state.sessionId);
  return session === undefined ? state.settings : { model: session.model, mode: session.mode, approval: session.approval };
}

function title({ state }: Server, setting: Setting): string {
  return `${TITLES[setting]} of ${whose(state.sessionId)}`;
}

function whose(sessionId: string | undefined): string {
  return sessionId === undefined ? "new sessions" : "this session";
}
