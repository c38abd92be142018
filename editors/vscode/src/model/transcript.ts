/**
 * Builds the transcript of a session from its updates: turns of blocks (transcriptTurn.ts). The rules are in
 * docs/clients.md.
 *
 * Pure. The same in editors/neovim/lua/tark/state/transcript.lua and tests/protocol/transcript.py.
 */

import { addBlock, type Change, endTurn, RULES, type Turn, type Update } from "./transcriptTurn";

export interface Transcript {
  readonly sessionId: string;
  /** The session has earlier messages that are not loaded. */
  earlier: boolean;
  /** In the order of their first update, without turns of which only hunks are known. */
  readonly turns: Turn[];
  /** Includes turns that are not listed. */
  readonly byId: Map<string, Turn>;
}

/** Params of `tark/update`. */
export interface UpdateParams {
  readonly sessionId: string;
  readonly turnId: string;
  readonly seq: number;
  readonly update: Update;
}

const INTERRUPTED = {
  code: "interrupted",
  message: "the server ended while this turn ran",
  hint: "what was done until then is kept: send a prompt to continue",
};

export function newTranscript(sessionId: string): Transcript {
  return { sessionId, earlier: false, turns: [], byId: new Map() };
}

/** Applies the next `tark/update`. Ignores updates of other sessions, and updates that were already applied. */
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
  if (apply === undefined || (update.kind === "undone" && !turnOf(transcript, turnId).listed)) {
    return undefined;
  }
  const turn = listed(transcript, turnId);
  if (turn.state === "queued") {
    turn.state = "running";
  }
  return apply(turn, update);
}

/**
 * Adds a turn that the server accepted, before its first update, since it can be queued. Undefined: it has already
 * started.
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

/** Called when the server has ended: ends the turns that ran or were queued, and returns them. */
export function interrupt(transcript: Transcript): Turn[] {
  const ended = transcript.turns.filter((turn) => turn.state !== "ended");
  for (const turn of ended) {
    endTurn(turn);
    turn.stopReason = "error";
    turn.error = INTERRUPTED;
  }
  return ended;
}

/** The id of the oldest turn that is undone. */
export function oldestUndone(transcript: Transcript | undefined): string | undefined {
  return transcript?.turns.find((turn) => turn.undone !== undefined)?.turnId;
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

function turnOf(transcript: Transcript, turnId: string): Turn {
  let turn = transcript.byId.get(turnId);
  if (turn === undefined) {
    const initial = { seq: 0, gap: false, listed: false, state: "queued" as const, prompt: "" };
    turn = { turnId, ...initial, blocks: [], calls: new Map() };
    transcript.byId.set(turnId, turn);
  }
  return turn;
}
