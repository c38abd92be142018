/** MCP servers and hooks as the server lists them (docs/protocol.md, "MCP servers and hooks"). */

export type OfferKind = "server" | "hook";

export interface McpTool {
  readonly name: string;
  readonly fullName: string;
  readonly description: string;
  readonly state: string;
  readonly reason: string;
}

/** What servers and hooks have in common. */
export interface Listed {
  readonly name: string;
  /** `user`: config.toml; `editor`: the settings of the editor; `project`: an offer. */
  readonly origin: string;
  readonly source: string;
  readonly state: string;
  readonly reason: string;
  readonly runs: string;
}

export interface McpServer extends Listed {
  readonly unconfined: string;
  readonly problems: readonly string[];
  readonly tools: readonly McpTool[];
}

export interface Hook extends Listed {
  readonly on: string;
}

/** The answer of `tark.mcp.list`. */
export interface ServerList {
  readonly trusted: boolean;
  readonly servers: readonly McpServer[];
  readonly problems: readonly string[];
}

/** The answer of `tark.hooks.list`. */
export interface HookList {
  readonly hooks: readonly Hook[];
  readonly problems: readonly string[];
}

/** The answer of `tark.mcp.show` and `tark.hooks.show`. `approved`: exactly this was approved before. */
export interface ShownOffer {
  readonly text: string;
  readonly isDiff: boolean;
  readonly digest: string;
  readonly approved: boolean;
}

/** The answer of `tark.mcp.inspect`. */
export interface ShownTools {
  readonly text: string;
  readonly isDiff: boolean;
  readonly digest: string;
  readonly tools: number;
  readonly differs: boolean;
  readonly unconfined: string;
}

export interface Unanswered {
  readonly kind: OfferKind;
  readonly name: string;
  readonly changed: boolean;
}

/** Params of `tark/mcp`: the list has changed. `unanswered`: what the user was not told about before. */
export interface McpChange {
  readonly unanswered: readonly Unanswered[];
}
