/**
 * Records which parts of a transcript the page has, and collects changes into few messages. Pure.
 *
 * If a text grows, only the added part is posted. The page holds only the last turns, until the user asks for more.
 */

import type { Range } from "../model/protocol";
import type { Transcript } from "../model/transcript";
import type { Block, Change, ToolCall, Turn } from "../model/transcriptTurn";
import type { Durations } from "./durations";
import type { KeyCards } from "./keyCards";
import type { Retries } from "./retries";
import type { BlockView, TranscriptChange, TranscriptView, TurnHead } from "./messages";

const CHANGED = new Set(["applied", "partly"]); // states of edited files
const LONGEST_TEXT = 100_000; // characters of a call's result

export class TranscriptChanges {
  private sent = new WeakMap<Block, number | string>(); // the posted length of texts, the posted status of calls
  private turns: readonly Turn[] = []; // of the session
  private unseen = new Set<Turn>(); // turns before the first one that the page holds
  private readonly stale = new Map<Turn, Set<Block | "head">>();

  constructor(
    private readonly durations: Durations,
    private readonly retries?: Pick<Retries, "viewOf">,
    private readonly keys?: Pick<KeyCards, "checkOf">,
  ) {}

  /** Everything that the page shows: at most `most` turns. */
  fullView(transcript: Transcript | undefined, most: number): TranscriptView {
    this.sent = new WeakMap();
    this.stale.clear();
    const turns = transcript?.turns ?? [];
    this.turns = turns;
    const shown = turns.slice(-most);
    this.unseen = new Set(turns.slice(0, turns.length - shown.length));
    return {
      ...(transcript && { sessionId: transcript.sessionId }),
      earlier: transcript !== undefined && (transcript.earlier || shown.length < turns.length),
      turns: shown.map((turn) => ({
        head: this.head(turn),
        blocks: turn.blocks.map((block) => this.blockView(block)),
      })),
    };
  }

  addChange(change: Change): void {
    const { turn, block } = change;
    if (this.unseen.has(turn)) {
      return;
    }
    const parts = this.stale.get(turn) ?? new Set();
    this.stale.set(turn, parts);
    if (block === undefined) {
      parts.add("head");
    } else {
      parts.add(block);
    }
    if (change.kind === "turn") {
      for (const call of turn.calls.values()) {
        if (this.sent.get(call) !== call.status) {
          parts.add(call); // the end of a turn cancels its calls
        }
      }
    }
  }

  get hasChanges(): boolean {
    return this.stale.size > 0;
  }

  /** Returns the changes since the last call. */
  takeChanges(): TranscriptChange[] {
    const changes: TranscriptChange[] = [];
    for (const [turn, parts] of this.stale) {
      if (parts.delete("head") || turn.blocks.every((block) => !this.sent.has(block))) {
        changes.push({ kind: "turn", head: this.head(turn) });
      }
      const indexes = [...(parts as Set<Block>)].map((block) => turn.blocks.lastIndexOf(block));
      for (const index of indexes.sort((one, other) => one - other)) {
        const block = turn.blocks[index];
        if (block !== undefined) {
          changes.push(this.change(turn.turnId, index, block));
        }
      }
    }
    this.stale.clear();
    return changes;
  }

  private head(turn: Turn): TurnHead {
    const waits = turn.state === "queued" && this.turns.some((other) => other !== turn && other.state !== "ended");
    const retry = this.retries?.viewOf(turn.turnId);
    const key = this.keys?.checkOf(turn.turnId);
    return { ...turnHead(turn), ...(waits && { waits }), ...(retry && { retry }), ...(key && { key: { result: key.result, message: key.message } }) };
  }

  private change(turnId: string, index: number, block: Block): TranscriptChange {
    const from = this.sent.get(block);
    if ((block.kind === "text" || block.kind === "thinking") && typeof from === "number") {
      this.sent.set(block, block.text.length);
      return { kind: "words", turnId, index, from, delta: block.text.slice(from) };
    }
    return { kind: "block", turnId, index, block: this.blockView(block) };
  }

  private blockView(block: Block): BlockView {
    if (block.kind === "toolCall") {
      this.sent.set(block, block.status);
      return { ...truncateCall(block), ...this.durations.durationOf(block) };
    }
    this.sent.set(block, "text" in block ? block.text.length : "");
    return { ...block };
  }
}

export function turnHead(turn: Turn): TurnHead {
  const { turnId, state, prompt, turnKind, uri, range, model, plan, usage, stopReason, error, edits = [], changedByCommand, undone, mode } = turn;
  const changed = edits.filter((edit) => CHANGED.has(edit.state)).length;
  return {
    turnId,
    state,
    prompt,
    ...(turnKind !== undefined && { turnKind }),
    ...(uri !== undefined && range && { place: { uri, first: range.start.line, last: lastLine(range) } }),
    ...(model !== undefined && { model }),
    ...(plan && { plan }),
    ...(usage && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(error && { error: { code: error.code, message: error.message, hint: error.hint } }),
    ...(turn.calls.size > 0 && { worked: true }),
    ...(changed > 0 && { edits: changed }),
    ...((edits.some((edit) => edit.state === "pending" || CHANGED.has(edit.state)) || changedByCommand?.length) && { undoable: true }),
    ...(changedByCommand && changedByCommand.length > 0 && { changed: changedByCommand }),
    ...(undone !== undefined && { undone }),
    ...(mode !== undefined && { mode }),
  };
}

/** A range of whole lines ends at the beginning of the line after them. */
function lastLine({ start, end }: Range): number {
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
}

/** Shortens long results. Arguments are shown only if there is no result. */
function truncateCall(call: ToolCall): ToolCall {
  const copy = { ...call };
  if (copy.content !== undefined) {
    delete copy.arguments;
    copy.content = copy.content.map((part) => {
      const text = (part as { text?: unknown }).text;
      return typeof text === "string" && text.length > LONGEST_TEXT
        ? { type: "text", text: `${text.slice(0, LONGEST_TEXT)}\n…` }
        : part;
    });
  } else if (copy.arguments !== undefined && copy.arguments.length > LONGEST_TEXT) {
    copy.arguments = `${copy.arguments.slice(0, LONGEST_TEXT)}…`;
  }
  return copy;
}
