/** Chooses the custom agent of a session. An agent of the project must be shown in full and approved before it can be chosen. */

import * as vscode from "vscode";
import type { AgentList } from "../model/protocol";
import type { Client } from "../server/client";
import { joinParts } from "../text/figures";
import { listRow, plainLine } from "../text/surfaces";
import { showInfo } from "../window/notify";
import { applySetting, current, settingTitle } from "./settings";

const NONE = "none";

/** `approve` shows an agent, and calls `then` after it is approved. */
export async function chooseAgent(server: Client, approve: (name: string, then: () => Promise<void>) => Promise<void>): Promise<void> {
  await server.ensureRunning();
  const { agents, problems } = await server.executeCommand<AgentList>("tark.agents.list"); // they are files, which can change
  for (const problem of problems) {
    void showInfo(plainLine(problem));
  }
  if (agents.length === 0) {
    void showInfo("there are no custom agents: put files in the folder agents beside your config.toml, or in .tark/agents");
    return;
  }
  const now = current(server)?.agent ?? NONE;
  const items = [
    { label: "None", name: NONE, detail: "The tools, model, mode and approval level of the session", isUsable: true, description: now === NONE ? "current" : "" },
    ...agents.map(({ name, description, origin, reason, model, mode, approval }) => ({
      label: plainLine(name),
      name,
      description: listRow(joinParts(name === now && "current", origin === "project" && "of this project", reason)),
      detail: listRow(joinParts(description, model, `at most ${mode} and ${approval}`)),
      isUsable: reason === "",
    })),
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: settingTitle(server, "agent"), matchOnDescription: true });
  if (chosen === undefined) {
    return;
  }
  const choose = (): Promise<void> => applySetting(server, "agent", chosen.name);
  await (chosen.isUsable ? choose() : approve(chosen.name, choose));
}
