/** A transcript (docs/clients.md), and what the server tells of turns, in the words of docs/protocol.md. */

export interface Transcript {
  readonly sessionId: string;
  /** The session has messages before these. */
  earlier: boolean;
  /** In the order of their first update, but for those of which only hunks are known. */
  readonly turns: Turn[];
  /** Also the ones that are not listed. */
  readonly byId: Map<string, Turn>;
}

/** All that is optional has the name and the shape it has on the wire (docs/protocol.md). */
export interface Turn {
  readonly turnId: string;
  /** Of the last update that is in it. */
  seq: number;
  /** An update is missing: draw anew from `tark.session.open`. */
  gap: boolean;
  /** It is one of the transcript's `turns`. */
  listed: boolean;
  state: "queued" | "running" | "ended";
  prompt: string;
  turnKind?: string;
  model?: string;
  mode?: string;
  range?: unknown;
  readonly blocks: Block[];
  /** Those of kind `toolCall`, by their ids. */
  readonly calls: Map<string, ToolCall>;
  plan?: readonly PlanEntry[];
  usage?: Usage;
  stopReason?: string;
  error?: { code: string; message: string; hint: string };
  edits?: readonly { uri: string; state: string }[];
  changedByCommand?: readonly string[];
}

/** `prompt`: what the person said to the running turn. */
export interface Words {
  readonly kind: "text" | "thinking" | "prompt";
  text: string;
}

export interface Notice {
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

export type Block = Words | Notice | ToolCall;

export interface PlanEntry {
  readonly content: string;
  readonly status: string;
}

export interface Usage {
  inputTokens?: number;
  cachedTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  /** Absent: nobody knows. */
  costUsd?: number;
  contextUsed?: number;
  contextWindow?: number;
}

/** Fields of a message, as they come: absent, null, or of the contract's type. */
export type Told = Readonly<Record<string, unknown>>;
export type Update = Told & { readonly kind: string };

/** Params of `tark/update`. */
export interface UpdateParams {
  readonly sessionId: string;
  readonly turnId: string;
  readonly seq: number;
  readonly update: Update;
}

/**
 * What an update made different, for a view to draw anew.
 *
 * `turn`: it is new, began or ended: its head and its end, and the calls that an end cancels. `block`: a new one at its
 * end. `text`: the last block has more words at its end. `toolCall`: a call has other fields, in its place.
 */
export interface Change {
  readonly turn: Turn;
  readonly kind: "turn" | "block" | "text" | "toolCall" | "plan" | "usage";
  readonly block?: Block;
}
