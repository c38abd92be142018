/** Lists the named prompts, to run one on the selection. */

import * as vscode from "vscode";
import type { ServerState } from "../model/protocol";
import type { Server } from "../model/server";
import { joinParts } from "../text/figures";
import { listRow } from "../text/surfaces";
import type { Turns } from "../turns/turns";
import { showInfo } from "../window/notify";

export async function choosePrompt(server: Server, turns: Turns): Promise<void> {
  const { prompts } = await server.executeCommand<ServerState>("tark.state"); // prompts are files, which can change
  const items = (prompts ?? []).map(({ name, title, description, source }) => ({
    label: listRow(title),
    description: listRow(joinParts(`/${name}`, source)),
    detail: listRow(description),
    name,
  }));
  if (items.length === 0) {
    void showInfo("there are no named prompts: put files in .tark/prompts, or in your own configuration folder");
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, { title: "Run Prompt", matchOnDescription: true });
  if (chosen !== undefined) {
    await turns.startFromEditor(chosen.name);
  }
}
