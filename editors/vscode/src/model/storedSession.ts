/** What `tark.session.open` answers, told as the updates that would have made it. The rules are in docs/clients.md. */

import { listed, newTranscript, steered, tell } from "./transcript";
import type { Told, Transcript, Turn } from "./transcriptTypes";

/** The answer of `tark.session.open`, as far as a transcript is made of it. */
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
  readonly toolCalls?: readonly Told[] | null;
}

export interface StoredTurn {
  readonly turnId: string;
  readonly kind: string;
  readonly state: Turn["state"];
  readonly seq?: number | null;
  readonly plan?: readonly Told[] | null;
  readonly usage?: Told | null;
  readonly notices?: readonly Told[] | null;
  readonly steers?: readonly string[] | null;
}

/** Updates that come after the answer go on from here. */
export function fromSession(opened: OpenedSession): Transcript {
  const transcript = newTranscript(opened.sessionId);
  transcript.earlier = opened.earlier === true;
  const told = new Map(opened.turns.map((each) => [each.turnId, each]));
  const seen = (turnId: string): Turn | undefined => {
    const known = told.get(turnId);
    return transcript.byId.get(turnId) ?? (known && begin(transcript, known));
  };
  const begun = new Set<Turn>();
  let loose: Turn | undefined; // of messages that are of no turn: what the session was begun with
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
      tellAnswer(transcript, turn.turnId, message);
    } else if (begun.has(turn)) {
      steered(transcript, turn.turnId, message.text);
    } else {
      turn.prompt = message.text; // all of it: that of the turn is cut
    }
    begun.add(turn);
  }
  for (const each of opened.turns) {
    seen(each.turnId);
    conclude(transcript, each);
  }
  return transcript;
}

/** Where in the turn its notices came is not kept: so before what is being said, which goes on at the end. */
function begin(transcript: Transcript, told: StoredTurn): Turn {
  tell(transcript, told.turnId, { ...told, kind: "start", turnKind: told.kind });
  const turn = listed(transcript, told.turnId);
  turn.seq = told.seq ?? 0;
  if (told.state !== "ended") {
    tellNotices(transcript, told);
  }
  return turn;
}

function tellAnswer(transcript: Transcript, turnId: string, message: StoredMessage): void {
  tell(transcript, turnId, { kind: "thinking", delta: message.thinking });
  tell(transcript, turnId, { kind: "text", delta: message.text });
  for (const each of message.toolCalls ?? []) {
    tell(transcript, turnId, { ...each, kind: "toolCall" });
  }
}

/** After its messages. */
function conclude(transcript: Transcript, told: StoredTurn): void {
  const turn = listed(transcript, told.turnId);
  if (told.plan) {
    tell(transcript, told.turnId, { kind: "plan", entries: told.plan });
  }
  if (told.usage) {
    tell(transcript, told.turnId, { ...told.usage, kind: "usage" });
  }
  if (told.state === "ended") {
    tell(transcript, told.turnId, { ...told, kind: "end" });
    unmark(turn);
    tellNotices(transcript, told);
  }
  turn.state = told.state;
  for (const words of told.steers ?? []) {
    steered(transcript, told.turnId, words);
  }
}

function tellNotices(transcript: Transcript, told: StoredTurn): void {
  for (const notice of told.notices ?? []) {
    tell(transcript, told.turnId, { ...notice, kind: "notice" });
  }
}

/** The words of an answer that was cut bear the server's mark in the history. */
function unmark(turn: Turn): void {
  const last = turn.blocks.at(-1);
  if (last?.kind === "text" && turn.stopReason !== "end_turn") {
    last.text = last.text.replace(/\n?\n?\[interrupted\]$/, "");
    if (last.text === "") {
      turn.blocks.pop();
    }
  }
}
