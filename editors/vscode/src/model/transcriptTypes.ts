/** The types of a transcript (docs/clients.md) and of `tark/update` (docs/protocol.md). */

export interface Transcript {
  readonly sessionId: string;
  /** The session has earlier messages that are not loaded. */
  earlier: boolean;
  /** In the order of their first update. Turns of which only hunks are known are left out. */
  readonly turns: Turn[];
  /** Includes turns that are not listed. */
  readonly byId: Map<string, Turn>;
}

/** Optional fields have the name and the shape of the protocol (docs/protocol.md). */
export interface Turn {
  readonly turnId: string;
  /** The number of the last update that was applied. */
  seq: number;
  /** An update is missing: reload from `tark.session.open`. */
  gap: boolean;
  /** Is the turn in the transcript's `turns`? */
  listed: boolean;
  state: "queued" | "running" | "ended";
  prompt: string;
  turnKind?: string;
  model?: string;
  mode?: string;
  range?: unknown;
  readonly blocks: Block[];
  /** The blocks of kind `toolCall`, by id. */
  readonly calls: Map<string, ToolCall>;
  plan?: readonly PlanEntry[];
  usage?: Usage;
  stopReason?: string;
  error?: { code: string; message: string; hint: string };
  edits?: readonly { uri: string; state: string }[];
  changedByCommand?: readonly string[];
}

/** `prompt`: what the user sent to the running turn. */
export interface TextBlock {
  readonly kind: "text" | "thinking" | "prompt";
  text: string;
}

export interface NoticeBlock {
  readonly kind: "notice";
  readonly level: string;
  readonly message: string;
}

export interface ToolCall {
  readonly kind: "toolCall";
  readonly toolCallId: string;
  /** pending, in_progress, waiting, completed, failed, rejected or cancelled. */
  status: string;
  name?: string;
  title?: string;
  toolKind?: string;
  arguments?: string;
  locations?: readonly unknown[];
  content?: readonly unknown[];
}

export type Block = TextBlock | NoticeBlock | ToolCall;

export interface PlanEntry {
  readonly content: string;
  readonly status: string;
}

export interface Usage {
  inputTokens?: number;
  cachedTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  /** Absent if unknown. */
  costUsd?: number;
  contextUsed?: number;
  contextWindow?: number;
}

/** Unchecked fields of a message: absent, null, or of the protocol's type. */
export type Fields = Readonly<Record<string, unknown>>;
export type Update = Fields & { readonly kind: string };

/** Params of `tark/update`. */
export interface UpdateParams {
  readonly sessionId: string;
  readonly turnId: string;
  readonly seq: number;
  readonly update: Update;
}

/**
 * What an update changed, so that a view can redraw it.
 *
 * `turn`: the turn is new, has started or has ended, which also cancels calls. `block`: a block was added at the end.
 * `text`: the last block has more text. `toolCall`: the fields of a call changed.
 */
export interface Change {
  readonly turn: Turn;
  readonly kind: "turn" | "block" | "text" | "toolCall" | "plan" | "usage";
  readonly block?: Block;
}
