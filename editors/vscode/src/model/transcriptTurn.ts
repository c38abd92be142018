/**
 * A turn of a transcript: its blocks, and what each kind of update changes in it. The rules are in docs/clients.md.
 *
 * Pure. The same in editors/neovim/lua/tark/state/transcript.lua and tests/protocol/transcript.py.
 */

import type { Range } from "./protocol";

/** Optional fields have the names and the types of the protocol (docs/protocol.md). */
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
  range?: Range;
  /** The document of the range. */
  uri?: string;
  readonly blocks: Block[];
  /** The blocks of kind `toolCall`, by id. */
  readonly calls: Map<string, ToolCall>;
  plan?: readonly PlanEntry[];
  usage?: Usage;
  stopReason?: string;
  error?: { code: string; message: string; hint: string; retryAfter?: number };
  edits?: readonly { uri: string; state: string }[];
  changedByCommand?: readonly string[];
  /** How much of its changes is undone. */
  undone?: "all" | "partly";
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
  outcome?: Outcome;
}

/** Figures of a call that has run. */
export interface Outcome {
  /** Negative: the signal that ended the command. */
  readonly exitCode?: number;
  readonly seconds?: number;
  readonly matches?: number;
  readonly files?: number;
  /** There is more than was counted. */
  readonly more?: boolean;
  /** Of a test run or a check, in words: `2 failed, 1 passed`. */
  readonly counts?: string;
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

/**
 * What an update changed, so that a view can redraw it.
 *
 * `turn`: the turn is new, has started, was undone or redone, or has ended, which also cancels calls. `block`: a block was added at the end.
 * `text`: the last block has more text. `toolCall`: the fields of a call changed.
 */
export interface Change {
  readonly turn: Turn;
  readonly kind: "turn" | "block" | "text" | "toolCall" | "plan" | "usage";
  readonly block?: Block;
}

const START_FIELDS = ["prompt", "turnKind", "model", "mode", "range", "uri"];
const CALL_FIELDS = ["name", "title", "toolKind", "status", "arguments", "locations", "content", "outcome"];
const TOKEN_FIELDS = ["inputTokens", "cachedTokens", "outputTokens", "reasoningTokens"];
const USAGE_FIELDS = [...TOKEN_FIELDS, "costUsd", "contextUsed", "contextWindow"];
const END_FIELDS = ["stopReason", "error", "edits", "changedByCommand"];
const FINAL_STATUSES = new Set(["completed", "failed", "rejected", "cancelled"]);

type Apply = (turn: Turn, update: Update) => Change | undefined;

/** What each kind of update changes. Other kinds are ignored. */
export const RULES: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  [
    "start",
    (turn, update) => {
      copyFields(turn, update, START_FIELDS);
      return { turn, kind: "turn" };
    },
  ],
  ["text", (turn, update) => addText(turn, "text", update["delta"])],
  ["thinking", (turn, update) => addText(turn, "thinking", update["delta"])],
  ["toolCall", updateCall],
  [
    "notice",
    (turn, update) =>
      addBlock(turn, { kind: "notice", level: update["level"] as string, message: update["message"] as string }),
  ],
  [
    "plan",
    (turn, update) => {
      delete turn.plan;
      copyFields(turn, { plan: update["entries"] }, ["plan"]);
      return { turn, kind: "plan" };
    },
  ],
  [
    "usage",
    (turn, update) => {
      turn.usage = copyFields({}, update, USAGE_FIELDS);
      return { turn, kind: "usage" };
    },
  ],
  [
    "undone",
    (turn, update) => {
      delete turn.undone;
      copyFields(turn, update, ["undone"]);
      return { turn, kind: "turn" };
    },
  ],
  [
    "end",
    (turn, update) => {
      copyFields(turn, update, END_FIELDS);
      if (update["usage"] != null) {
        turn.usage = copyFields({}, update["usage"] as Fields, USAGE_FIELDS);
      }
      endTurn(turn);
      return { turn, kind: "turn" };
    },
  ],
]);

function updateCall(turn: Turn, update: Update): Change {
  const toolCallId = update["toolCallId"] as string;
  const known = turn.calls.get(toolCallId);
  if (known !== undefined) {
    return { turn, kind: "toolCall", block: copyFields(known, update, CALL_FIELDS) };
  }
  const block: ToolCall = { kind: "toolCall", toolCallId, status: "pending" };
  turn.calls.set(toolCallId, block);
  return addBlock(turn, copyFields(block, update, CALL_FIELDS));
}

function addText(turn: Turn, kind: "text" | "thinking", words: unknown): Change | undefined {
  if (typeof words !== "string" || words === "") {
    return undefined;
  }
  const last = turn.blocks.at(-1);
  if (last?.kind !== kind) {
    return addBlock(turn, { kind, text: words });
  }
  last.text += words;
  return { turn, kind: "text", block: last };
}

export function addBlock(turn: Turn, block: Block): Change {
  turn.blocks.push(block);
  return { turn, kind: "block", block };
}

/** Ends the turn. Cancels its unfinished calls, whose content stays. */
export function endTurn(turn: Turn): void {
  turn.state = "ended";
  for (const call of turn.calls.values()) {
    if (!FINAL_STATUSES.has(call.status)) {
      call.status = "cancelled";
    }
  }
}

/** Copies these fields from `source`, except null, empty strings and empty lists. */
function copyFields<T extends object>(target: T, source: Fields, fields: readonly string[]): T {
  const said = fields.filter((field) => !isEmpty(source[field])).map((field) => [field, source[field]] as const);
  return Object.assign(target, Object.fromEntries(said));
}

function isEmpty(value: unknown): boolean {
  return value == null || value === "" || (Array.isArray(value) && value.length === 0);
}
