/** A list of all requests that wait for the user's answer. They stay in it after their notifications are gone. */

import * as vscode from "vscode";
import type { State } from "../model/state";
import { requestRows } from "../review/treeRows";
import { listRow } from "../text/surfaces";
import { showInfo } from "../window/notify";
import type { Inputs } from "./inputs";
import type { Permissions } from "./permissions";

interface Requests {
  readonly permissions: Permissions;
  readonly inputs: Inputs;
}

/** If only one request waits, it is shown at once. */
export async function showPendingRequests(state: State, { permissions, inputs }: Requests): Promise<void> {
  const items = requestRows(state.permissions, state.inputs).map(({ kind, label, description, requestId }) => {
    const show = (): Promise<void> => (kind === "permission" ? permissions.showPermission(requestId) : inputs.showInput(requestId));
    return { label: listRow(label), description: listRow(description), show };
  });
  const [only] = items;
  if (!only) {
    void showInfo("nothing is waiting for you");
    return;
  }
  const options = { title: "Waiting for You", matchOnDescription: true };
  const chosen = items.length === 1 ? only : await vscode.window.showQuickPick(items, options);
  await chosen?.show();
}
