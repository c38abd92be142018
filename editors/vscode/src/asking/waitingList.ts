/** All that waits for the person's answer, to choose from: what a notification told of is never lost. */

import * as vscode from "vscode";
import { say } from "../status/notify";
import type { Parts } from "../parts";
import { questions } from "../review/treeModel";

export async function showWaiting({ server, permissions, inputs }: Parts): Promise<void> {
  const { state } = server;
  const picks = questions(state.permissions, state.inputs).map(({ kind, label, description, requestId }) => {
    return { label, description, requestId, of: kind === "permission" ? permissions : inputs };
  });
  const [only] = picks;
  if (!only) {
    void say("nothing waits for you");
    return;
  }
  const options = { title: "Waiting for you", matchOnDescription: true };
  const chosen = picks.length === 1 ? only : await vscode.window.showQuickPick(picks, options);
  await chosen?.of.show(chosen.requestId);
}
