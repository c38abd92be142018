/** The menu of the status bar item. */

import * as vscode from "vscode";
import type { Server } from "../model/server";

type Row = readonly [label: string, command: string];

const CHAT: Row = ["$(comment-discussion) Open Chat", "tark.client.chat"];
const WITH_SERVER: readonly Row[] = [
  ["$(history) Open Session…", "tark.client.sessions"],
  ["$(chip) Select Model…", "tark.client.selectModel"],
  ["$(person) Select Agent…", "tark.client.selectAgent"],
  ["$(settings) Select Mode…", "tark.client.selectMode"],
  ["$(shield) Select Approval Level…", "tark.client.selectApproval"],
  ["$(graph) Show Usage", "tark.client.showUsage"],
];
const ALWAYS: readonly Row[] = [
  ["$(debug-restart) Restart Server", "tark.client.restart"],
  ["$(pulse) Doctor", "tark.client.doctor"],
  ["$(output) Show Output", "tark.client.showOutput"],
];
const INSTALL: Row = ["$(cloud-download) Install Server", "tark.client.install"];

export async function showStatusMenu({ running }: Server): Promise<void> {
  const rows = running ? [CHAT, ...WITH_SERVER, ...ALWAYS] : [CHAT, ...ALWAYS, INSTALL];
  const items = rows.map(([label, command]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Tark" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}
