/** The list of providers, to set a key, log in or log out. */

import * as vscode from "vscode";
import type { Server } from "../model/server";
import { joinParts } from "../text/figures";
import { providerName } from "../text/providerNames";
import { listRow } from "../text/surfaces";
import type { ProviderStatus } from "./offers";

const STATUS: Readonly<Record<string, string>> = {
  ready: "has a key",
  pending: "waiting for the login",
  missing: "no key",
  unneeded: "needs no key",
  unusable: "key cannot be used",
};

/** Only what can be done here is said: the server's hint is shown for a key that cannot be used. */
export function providerRow(status: ProviderStatus): { label: string; description: string; detail?: string; status: ProviderStatus } {
  const { provider, status: word, source, hint } = status;
  return {
    label: listRow(providerName(provider)),
    description: listRow(joinParts(STATUS[word] ?? word, source)),
    ...(word === "unusable" && hint && { detail: listRow(hint) }),
    status,
  };
}

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
    return fitting.map(providerRow);
  });
  return (await vscode.window.showQuickPick(listing, { title }))?.status;
}
