/** The version of docs/protocol.md that this extension implements, and whether the server implements it, too. */

import type { InitializeResult } from "vscode-languageclient";

const PROTOCOL = 1; // of the tark/* messages and commands

export const CAPABILITIES = {
  protocol: PROTOCOL,
  editor: "Visual Studio Code", // also for forks, whose names the server does not know
  userSettings: true, // settings.ts reads these in user scope only
  updates: true,
  permission: true,
  input: true,
  clientState: true,
  languageServers: true,
  save: true,
  review: true,
  mcp: true,
};

export interface CompatibilityProblem {
  readonly message: string;
  /** Replacing the server can solve the problem. */
  readonly canReplaceServer: boolean;
}

/**
 * Undefined if client and server fit. Otherwise the message says what to do; the extension still works as far as it
 * can.
 */
export function compatibilityProblem(result: InitializeResult | undefined): CompatibilityProblem | undefined {
  const spoken = (result?.capabilities.experimental as { tark?: { protocol?: unknown } } | undefined)?.tark?.protocol;
  const name = `${result?.serverInfo?.name ?? "the server"} ${result?.serverInfo?.version ?? ""}`.trim();
  if (spoken === undefined && result?.serverInfo?.name !== "tark-lsp") {
    return { message: `${name} is not tark-lsp: check the setting tark.server.command`, canReplaceServer: true };
  }
  if (typeof spoken !== "number" || spoken < PROTOCOL) {
    return { message: `${name} is too old for this extension: update it, or install the server that comes with the extension`, canReplaceServer: true };
  }
  return spoken > PROTOCOL
    ? { message: `${name} is too new for this extension: update the extension`, canReplaceServer: false }
    : undefined;
}
