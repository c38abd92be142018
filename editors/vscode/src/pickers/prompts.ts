/** The named prompts there are, to run one about the selection. */

import * as vscode from "vscode";
import { row } from "../text/figures";
import { say } from "../status/notify";
import type { Parts } from "../parts";
import type { ServerState } from "../model/protocol";
import { line } from "../text/visible";

export async function choosePrompt({ server, turns }: Parts): Promise<void> {
  const { prompts } = await server.command<ServerState>("tark.state"); // they are files, and may be others now
  const items = (prompts ?? []).map(({ name, title, description, source }) => ({
    label: line(title),
    description: row(`/${name}`, line(source)),
    detail: line(description),
    name,
  }));
  if (items.length === 0) {
    void say("there are no named prompts: they are files in .tark/prompts, or in your own config folder");
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, { title: "Run a prompt", matchOnDescription: true });
  if (chosen !== undefined) {
    await turns.start(chosen.name);
  }
}
