/** What of docs/protocol.md this extension speaks, and whether the server speaks it, too. */

import type { InitializeResult } from "vscode-languageclient";

const PROTOCOL = 1; // of the tark/* messages and commands

export const CAPABILITIES = {
  protocol: PROTOCOL,
  userSettings: true, // settings.ts: read in user scope only
  updates: true,
  permission: true,
  input: true,
  clientState: true,
  save: true,
  review: true,
};

/** Where it does not, the person is told what to do; we go on where we can. */
export function problemWith(result: InitializeResult | undefined): string | undefined {
  const spoken = (result?.capabilities.experimental as { tark?: { protocol?: unknown } } | undefined)?.tark?.protocol;
  const name = `${result?.serverInfo?.name ?? "the server"} ${result?.serverInfo?.version ?? ""}`.trim();
  if (spoken === undefined && result?.serverInfo?.name !== "tark-lsp") {
    return `${name} is no tark-lsp: see the setting tark.server.command`;
  }
  if (typeof spoken !== "number" || spoken < PROTOCOL) {
    return `${name} is too old for this extension: update it`;
  }
  return spoken > PROTOCOL ? `${name} is too new for this extension: update the extension` : undefined;
}
