/**
 * What the page has been told of a transcript, and what it is to be told next: many changes become few messages. Pure.
 *
 * A text that grows is told by what was added. The page holds the last turns only, until more are asked for.
 */

import type { Block, Change, ToolCall, Transcript, Turn } from "../model/transcriptTypes";
import type { Durations } from "./durations";
import type { BlockView, TranscriptChange, TranscriptView, TurnHead } from "./messages";

const CHANGED = new Set(["applied", "partly"]); // of the files that a turn edited
const LONGEST_TEXT = 100_000; // characters of what a call found

export class Outlet {
  private told = new WeakMap<Block, number | string>(); // characters of words, status of calls
  private turns: readonly Turn[] = []; // of the session
  private unseen = new Set<Turn>(); // before the first turn that the page holds
  private readonly stale = new Map<Turn, Set<Block | "head">>();

  constructor(private readonly durations: Durations) {}

  /** All that the page is to hold. */
  whole(transcript: Transcript | undefined, most: number): TranscriptView {
    this.told = new WeakMap();
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
        blocks: turn.blocks.map((block) => this.tell(block)),
      })),
    };
  }

  touch(change: Change): void {
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
        if (this.told.get(call) !== call.status) {
          parts.add(call); // an end cancels them
        }
      }
    }
  }

  get isStale(): boolean {
    return this.stale.size > 0;
  }

  /** What was touched since the last time. */
  take(): TranscriptChange[] {
    const changes: TranscriptChange[] = [];
    for (const [turn, parts] of this.stale) {
      if (parts.delete("head") || turn.blocks.every((block) => !this.told.has(block))) {
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
    const waits = turn.state === "queued" && this.turns.some((each) => each !== turn && each.state !== "ended");
    return { ...head(turn), ...(waits && { waits }) };
  }

  private change(turnId: string, index: number, block: Block): TranscriptChange {
    const from = this.told.get(block);
    if ((block.kind === "text" || block.kind === "thinking") && typeof from === "number") {
      this.told.set(block, block.text.length);
      return { kind: "words", turnId, index, from, delta: block.text.slice(from) };
    }
    return { kind: "block", turnId, index, block: this.tell(block) };
  }

  private tell(block: Block): BlockView {
    if (block.kind === "toolCall") {
      this.told.set(block, block.status);
      return { ...cut(block), ...this.durations.of(block) };
    }
    this.told.set(block, block.kind === "notice" ? "" : block.text.length);
    return { ...block };
  }
}

export function head(turn: Turn): TurnHead {
  const { turnId, state, prompt, turnKind, model, plan, usage, stopReason, error, edits = [], changedByCommand } = turn;
  const changed = edits.filter((edit) => CHANGED.has(edit.state)).length;
  return {
    turnId,
    state,
    prompt,
    ...(turnKind !== undefined && { turnKind }),
    ...(model !== undefined && { model }),
    ...(plan && { plan }),
    ...(usage && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(error && { error: { message: error.message, hint: error.hint } }),
    ...(changed > 0 && { edits: changed }),
    ...(edits.some((edit) => edit.state === "pending" || CHANGED.has(edit.state)) && { undoable: true }),
    ...(changedByCommand && changedByCommand.length > 0 && { changed: changedByCommand }),
  };
}

/** Arguments are shown only where there is nothing else; nobody reads a hundred thousand characters in a row. */
function cut(call: ToolCall): ToolCall {
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
