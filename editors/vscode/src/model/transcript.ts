/**
 * Builds the transcript of a session from its updates: turns of blocks. The rules are in docs/clients.md.
 *
 * Pure. The same in editors/neovim/lua/tark/state/transcript.lua and tests/protocol/transcript.py.
 */

import type { Block, Change, Fields, ToolCall, Transcript, Turn, Update, UpdateParams } from "./transcriptTypes";

const START_FIELDS = ["prompt", "turnKind", "model", "mode", "range"];
const CALL_FIELDS = ["name", "title", "toolKind", "status", "arguments", "locations", "content"];
const TOKEN_FIELDS = ["inputTokens", "cachedTokens", "outputTokens", "reasoningTokens"];
const USAGE_FIELDS = [...TOKEN_FIELDS, "costUsd", "contextUsed", "contextWindow"];
const END_FIELDS = ["stopReason", "error", "edits", "changedByCommand"];
const FINAL_STATUSES = new Set(["completed", "failed", "rejected", "cancelled"]);
const INTERRUPTED = {
  code: "interrupted",
  message: "the server ended while this turn ran",
  hint: "what was done until then is kept: say how to go on",
};

export function newTranscript(sessionId: string): Transcript {
  return { sessionId, earlier: false, turns: [], byId: new Map() };
}

/** Applies the next `tark/update`. Ignores those of other sessions, and those that were already applied. */
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
  return applyUpdate(transcript, params.turnId, params.update);
}

/** Applies an update regardless of its number. Ignores unknown kinds. */
export function applyUpdate(transcript: Transcript, turnId: string, update: Update): Change | undefined {
  const apply = RULES.get(update.kind);
  if (apply === undefined) {
    return undefined;
  }
  const turn = listed(transcript, turnId);
  if (turn.state === "queued") {
    turn.state = "running";
  }
  return apply(turn, update);
}

/**
 * Adds a turn that the server accepted, before its first update, since it can be queued. Undefined: it has started
 * already.
 */
export function addQueuedTurn(transcript: Transcript, turnId: string, prompt: string): Change | undefined {
  if (turnOf(transcript, turnId).listed) {
    return undefined;
  }
  const turn = listed(transcript, turnId);
  turn.prompt = prompt;
  return { turn, kind: "turn" };
}

/** Adds a prompt to a running turn, after `tark.turn.steer` accepted it. */
export function addSteer(transcript: Transcript, turnId: string, prompt: string): Change {
  return addBlock(listed(transcript, turnId), { kind: "prompt", text: prompt });
}

/** The server died: ends the turns that ran or were queued, and returns them. */
export function interrupt(transcript: Transcript): Turn[] {
  const ended = transcript.turns.filter((turn) => turn.state !== "ended");
  for (const turn of ended) {
    endTurn(turn);
    turn.stopReason = "error";
    turn.error = INTERRUPTED;
  }
  return ended;
}

/** The turn, added to the transcript's list if needed. */
export function listed(transcript: Transcript, turnId: string): Turn {
  const turn = turnOf(transcript, turnId);
  if (!turn.listed) {
    turn.listed = true;
    transcript.turns.push(turn);
  }
  return turn;
}

type Apply = (turn: Turn, update: Update) => Change | undefined;

const RULES: ReadonlyMap<string, Apply> = new Map<string, Apply>([
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

function addBlock(turn: Turn, block: Block): Change {
  turn.blocks.push(block);
  return { turn, kind: "block", block };
}

/** Ends the turn. Cancels its unfinished calls, whose content stays. */
function endTurn(turn: Turn): void {
  turn.state = "ended";
  for (const call of turn.calls.values()) {
    if (!FINAL_STATUSES.has(call.status)) {
      call.status = "cancelled";
    }
  }
}

function turnOf(transcript: Transcript, turnId: string): Turn {
  let turn = transcript.byId.get(turnId);
  if (turn === undefined) {
    const initial = { seq: 0, gap: false, listed: false, state: "queued" as const, prompt: "" };
    turn = { turnId, ...initial, blocks: [], calls: new Map() };
    transcript.byId.set(turnId, turn);
  }
  return turn;
}

/** Copies these fields from `source`, except null, empty strings and empty lists. */
function copyFields<T extends object>(target: T, source: Fields, fields: readonly string[]): T {
  const said = fields.filter((field) => !isEmpty(source[field])).map((field) => [field, source[field]] as const);
  return Object.assign(target, Object.fromEntries(said));
}

function isEmpty(value: unknown): boolean {
  return value == null || value === "" || (Array.isArray(value) && value.length === 0);
}
