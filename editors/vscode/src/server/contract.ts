/** What of docs/protocol.md this extension speaks, and whether the server speaks it, too. */

import type { InitializeResult } from "vscode-languageclient";

const PROTOCOL = 1; // of the tark/* messages and commands

export const CAPABILITIES = {
  protocol: PROTOCOL,
  editor: "Visual Studio Code", // also of its forks, whose names the server need not know
  userSettings: true, // settings.ts: read in user scope only
  updates: true,
  permission: true,
  input: true,
  clientState: true,
  save: true,
  review: true,
};

export interface Problem {
  readonly words: string;
  /** Another server would do. */
  readonly isServers: boolean;
}

/** Where it does not, the person is told what to do; we go on where we can. */
export function problemWith(result: InitializeResult | undefined): Problem | undefined {
  const spoken = (result?.capabilities.experimental as { tark?: { protocol?: unknown } } | undefined)?.tark?.protocol;
  const name = `${result?.serverInfo?.name ?? "the server"} ${result?.serverInfo?.version ?? ""}`.trim();
  if (spoken === undefined && result?.serverInfo?.name !== "tark-lsp") {
    return { words: `${name} is no tark-lsp: see the setting tark.server.command`, isServers: true };
  }
  if (typeof spoken !== "number" || spoken < PROTOCOL) {
    return { words: `${name} is too old for this extension: update it, or install the one that the extension brings`, isServers: true };
  }
  return spoken > PROTOCOL
    ? { words: `${name} is too new for this extension: update the extension`, isServers: false }
    : undefined;
}
