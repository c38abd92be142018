/**
 * What the updates of a session make: a transcript, which is turns of blocks. The rules are in docs/clients.md.
 *
 * Pure. The same in editors/neovim/lua/tark/transcript.lua and tests/protocol/transcript.py.
 */

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

const OF_START = ["prompt", "turnKind", "model", "mode", "range"];
const OF_CALL = ["name", "title", "toolKind", "status", "arguments", "locations", "content"];
const OF_TOKENS = ["inputTokens", "cachedTokens", "outputTokens", "reasoningTokens"];
const OF_USAGE = [...OF_TOKENS, "costUsd", "contextUsed", "contextWindow"];
const OF_END = ["stopReason", "error", "edits", "changedByCommand"];
const OVER = new Set(["completed", "failed", "rejected", "cancelled"]);
const INTERRUPTED = {
  code: "interrupted",
  message: "the server ended while this turn ran",
  hint: "what was done until then is kept: say how to go on",
};

export function newTranscript(sessionId: string): Transcript {
  return { sessionId, earlier: false, turns: [], byId: new Map() };
}

/** The next `tark/update`. Those of other sessions, and those that were here already, change nothing. */
export function reduce(transcript: Transcript, params: UpdateParams): Change | undefined {
  if (params.sessionId !== transcript.sessionId) {
    return undefined;
  }
  const turn = turnOf(transcript, params.turnId);
  if (params.seq <= turn.seq) {
    return undefined;
  }
  turn.gap ||= params.seq > turn.seq + 1;
  turn.seq = params.seq;
  return tell(transcript, params.turnId, params.update);
}

/** What was told of a turn, whatever its number. Kinds that are not known here are left to clients that know them. */
export function tell(transcript: Transcript, turnId: string, update: Update): Change | undefined {
  const apply = APPLY.get(update.kind);
  if (apply === undefined) {
    return undefined;
  }
  const turn = listed(transcript, turnId);
  if (turn.state === "queued") {
    turn.state = "running";
  }
  return apply(turn, update);
}

/** A turn that was started, before anything is told of it: it may have to wait. Undefined: it began already. */
export function asked(transcript: Transcript, turnId: string, prompt: string): Change | undefined {
  if (turnOf(transcript, turnId).listed) {
    return undefined;
  }
  const turn = listed(transcript, turnId);
  turn.prompt = prompt;
  return { turn, kind: "turn" };
}

/** What the person said to a running turn, once `tark.turn.steer` accepted it. */
export function steered(transcript: Transcript, turnId: string, prompt: string): Change {
  return add(listed(transcript, turnId), { kind: "prompt", text: prompt });
}

/** The server died: what ran or waited is over. The turns that ended by it. */
export function interrupted(transcript: Transcript): Turn[] {
  const ended = transcript.turns.filter((turn) => turn.state !== "ended");
  for (const turn of ended) {
    finish(turn);
    turn.stopReason = "error";
    turn.error = INTERRUPTED;
  }
  return ended;
}

/** It is in the transcript's list from now on. */
export function listed(transcript: Transcript, turnId: string): Turn {
  const turn = turnOf(transcript, turnId);
  if (!turn.listed) {
    turn.listed = true;
    transcript.turns.push(turn);
  }
  return turn;
}

type Apply = (turn: Turn, update: Update) => Change | undefined;

const APPLY: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  [
    "start",
    (turn, update) => {
      take(turn, update, OF_START);
      return { turn, kind: "turn" };
    },
  ],
  ["text", (turn, update) => say(turn, "text", update["delta"])],
  ["thinking", (turn, update) => say(turn, "thinking", update["delta"])],
  ["toolCall", call],
  [
    "notice",
    (turn, update) =>
      add(turn, { kind: "notice", level: update["level"] as string, message: update["message"] as string }),
  ],
  [
    "plan",
    (turn, update) => {
      delete turn.plan;
      take(turn, { plan: update["entries"] }, ["plan"]);
      return { turn, kind: "plan" };
    },
  ],
  [
    "usage",
    (turn, update) => {
      turn.usage = take({}, update, OF_USAGE);
      return { turn, kind: "usage" };
    },
  ],
  [
    "end",
    (turn, update) => {
      take(turn, update, OF_END);
      if (update["usage"] != null) {
        turn.usage = take({}, update["usage"] as Told, OF_USAGE);
      }
      finish(turn);
      return { turn, kind: "turn" };
    },
  ],
]);

function call(turn: Turn, update: Update): Change {
  const toolCallId = update["toolCallId"] as string;
  const known = turn.calls.get(toolCallId);
  if (known !== undefined) {
    return { turn, kind: "toolCall", block: take(known, update, OF_CALL) };
  }
  const block: ToolCall = { kind: "toolCall", toolCallId, status: "pending" };
  turn.calls.set(toolCallId, block);
  return add(turn, take(block, update, OF_CALL));
}

function say(turn: Turn, kind: "text" | "thinking", words: unknown): Change | undefined {
  if (typeof words !== "string" || words === "") {
    return undefined;
  }
  const last = turn.blocks.at(-1);
  if (last?.kind !== kind) {
    return add(turn, { kind, text: words });
  }
  last.text += words;
  return { turn, kind: "text", block: last };
}

function add(turn: Turn, block: Block): Change {
  turn.blocks.push(block);
  return { turn, kind: "block", block };
}

/** Calls that were not over never will be; what they had to show stays. */
function finish(turn: Turn): void {
  turn.state = "ended";
  for (const each of turn.calls.values()) {
    if (!OVER.has(each.status)) {
      each.status = "cancelled";
    }
  }
}

function turnOf(transcript: Transcript, turnId: string): Turn {
  let turn = transcript.byId.get(turnId);
  if (turn === undefined) {
    const begun = { seq: 0, gap: false, listed: false, state: "queued" as const, prompt: "" };
    turn = { turnId, ...begun, blocks: [], calls: new Map() };
    transcript.byId.set(turnId, turn);
  }
  return turn;
}

/** What `source` says of these fields. Null, an empty text and an empty list say nothing. */
function take<T extends object>(target: T, source: Told, fields: readonly string[]): T {
  const said = fields.filter((field) => !saysNothing(source[field])).map((field) => [field, source[field]] as const);
  return Object.assign(target, Object.fromEntries(said));
}

function saysNothing(value: unknown): boolean {
  return value == null || value === "" || (Array.isArray(value) && value.length === 0);
}
