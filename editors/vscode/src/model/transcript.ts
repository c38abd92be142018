/**
 * What the updates of a session make: a transcript, which is turns of blocks. The rules are in docs/clients.md.
 *
 * Pure. The same in editors/neovim/lua/tark/transcript.lua and tests/protocol/transcript.py.
 */

import type { Block, Change, Told, ToolCall, Transcript, Turn, Update, UpdateParams } from "./transcriptTypes";

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
