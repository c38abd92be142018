/** Lists the permissions that cover more than a single call, and revokes those that the user selects. */

import * as vscode from "vscode";
import type { GivenPermission } from "../model/protocol";
import type { Server } from "../model/server";
import { joinParts } from "../text/figures";
import { listRow } from "../text/surfaces";
import { showInfo } from "../window/notify";

export async function managePermissions(server: Server): Promise<void> {
  const { permissions } = await server.executeCommand<{ permissions: readonly GivenPermission[] }>("tark.permissions.list");
  if (permissions.length === 0) {
    void showInfo("you allowed nothing in this workspace beyond single calls");
    return;
  }
  const items = permissions.map(({ id, covers, folder, holds }) => ({
    label: listRow(covers),
    description: listRow(joinParts(folder ?? undefined, !holds && "the folder was replaced")),
    id,
  }));
  const options = { title: "Manage Permissions", placeHolder: "Select what to revoke", matchOnDescription: true };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (chosen !== undefined) {
    const { revoked } = await server.executeCommand<{ revoked: readonly string[] }>("tark.permissions.revoke", { ids: [chosen.id] });
    void showInfo(revoked.length > 0 ? "the permission is revoked, in running turns too" : "this was already revoked");
  }
}
