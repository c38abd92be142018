/**
 * Replays the answer of `tark.session.open` as the updates that would have made it. The rules are in docs/clients.md.
 */

import { addSteer, applyUpdate, listed, newTranscript, type Transcript } from "./transcript";
import type { Fields, Turn } from "./transcriptTurn";

/** The answer of `tark.session.open`: the fields that make the transcript. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly earlier?: boolean | null;
  readonly messages: readonly StoredMessage[];
  readonly turns: readonly StoredTurn[];
}

export interface StoredMessage {
  readonly messageId?: string;
  readonly turnId: string;
  readonly role: string;
  readonly text: string;
  readonly thinking?: string | null;
  readonly toolCalls?: readonly Fields[] | null;
}

export interface StoredTurn {
  readonly turnId: string;
  readonly kind: string;
  readonly state: Turn["state"];
  readonly seq?: number | null;
  readonly plan?: readonly Fields[] | null;
  readonly usage?: Fields | null;
  readonly notices?: readonly Fields[] | null;
  readonly steers?: readonly string[] | null;
  readonly undone?: string | null;
}

/** Later updates continue this transcript. */
export function fromSession(opened: OpenedSession): Transcript {
  const transcript = newTranscript(opened.sessionId);
  transcript.earlier = opened.earlier === true;
  const storedTurns = new Map(opened.turns.map((stored) => [stored.turnId, stored]));
  const seen = (turnId: string): Turn | undefined => {
    const known = storedTurns.get(turnId);
    return transcript.byId.get(turnId) ?? (known && startTurn(transcript, known));
  };
  const started = new Set<Turn>();
  let loose: Turn | undefined; // for messages without a turn, with which the session started
  for (const message of opened.messages) {
    const isUser = message.role === "user";
    let turn = seen(message.turnId);
    if (turn === undefined) {
      if (isUser || loose === undefined) {
        loose = listed(transcript, message.messageId ?? "");
        loose.state = "ended";
      }
      turn = loose;
    }
    if (!isUser) {
      applyAnswer(transcript, turn.turnId, message);
    } else if (started.has(turn)) {
      addSteer(transcript, turn.turnId, message.text);
    } else {
      turn.prompt = message.text; // the message has the whole prompt; the turn has a shortened one
    }
    started.add(turn);
  }
  for (const stored of opened.turns) {
    seen(stored.turnId);
    applyEnd(transcript, stored);
  }
  return transcript;
}

/**
 * The position of notices in a turn is not stored. In a running turn they go first, because text is still added at the
 * end.
 */
function startTurn(transcript: Transcript, stored: StoredTurn): Turn {
  applyUpdate(transcript, stored.turnId, { ...stored, kind: "start", turnKind: stored.kind });
  const turn = listed(transcript, stored.turnId);
  turn.seq = stored.seq ?? 0;
  if (stored.state !== "ended") {
    applyNotices(transcript, stored);
  }
  return turn;
}

function applyAnswer(transcript: Transcript, turnId: string, message: StoredMessage): void {
  applyUpdate(transcript, turnId, { kind: "thinking", delta: message.thinking });
  applyUpdate(transcript, turnId, { kind: "text", delta: message.text });
  for (const call of message.toolCalls ?? []) {
    applyUpdate(transcript, turnId, { ...call, kind: "toolCall" });
  }
}

/** Called after the messages of the turn. */
function applyEnd(transcript: Transcript, stored: StoredTurn): void {
  const turn = listed(transcript, stored.turnId);
  if (stored.plan) {
    applyUpdate(transcript, stored.turnId, { kind: "plan", entries: stored.plan });
  }
  if (stored.usage) {
    applyUpdate(transcript, stored.turnId, { ...stored.usage, kind: "usage" });
  }
  if (stored.state === "ended") {
    applyUpdate(transcript, stored.turnId, { ...stored, kind: "end" });
    applyUpdate(transcript, stored.turnId, { kind: "undone", undone: stored.undone });
    removeInterruptedMark(turn);
    applyNotices(transcript, stored);
  }
  turn.state = stored.state;
  for (const words of stored.steers ?? []) {
    addSteer(transcript, stored.turnId, words);
  }
}

function applyNotices(transcript: Transcript, stored: StoredTurn): void {
  for (const notice of stored.notices ?? []) {
    applyUpdate(transcript, stored.turnId, { ...notice, kind: "notice" });
  }
}

/** In the history, the server marks the text of an interrupted answer. */
function removeInterruptedMark(turn: Turn): void {
  const last = turn.blocks.at(-1);
  if (last?.kind === "text" && turn.stopReason !== "end_turn") {
    last.text = last.text.replace(/\n?\n?\[interrupted\]$/, "");
    if (last.text === "") {
      turn.blocks.pop();
    }
  }
}

/** The messages that began a turn, and the prompts that the session began with, which have no turn. */
export function promptMessages(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  const begun = new Set<string>();
  return messages.filter(({ role, turnId, messageId }) => {
    const begins = role === "user" && messageId !== undefined && (turnId === "" || !begun.has(turnId));
    begun.add(turnId);
    return begins;
  });
}
