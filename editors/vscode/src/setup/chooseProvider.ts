/** The list of providers, to set a key, log in or log out. */

import * as vscode from "vscode";
import type { Server } from "../model/server";
import type { ProviderStatus } from "./offers";
import { providerRows } from "./providerRows";

/** Undefined: the user left the list. */
export async function chooseProvider(
  server: Server,
  title: string,
  fits: (provider: ProviderStatus) => boolean = () => true,
): Promise<ProviderStatus | undefined> {
  await server.ensureRunning();
  const listing = server.executeCommand<{ providers: readonly ProviderStatus[] }>("tark.auth.status").then(({ providers }) => {
    const fitting = providers.filter(fits);
    if (fitting.length === 0) {
      throw new Error("no provider has a login or a key");
    }
    return providerRows(fitting);
  });
  return (await vscode.window.showQuickPick(listing, { title }))?.status;
}
