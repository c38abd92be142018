/** The transcript on the page, and which parts must be redrawn. Pure. */

import type { BlockView, TranscriptChange, TranscriptView, TurnHead } from "../messages";

export interface TurnModel {
  head: TurnHead;
  readonly blocks: BlockView[];
}

/** The parts of a turn to redraw: its head, and blocks by index. */
export type Stale = Set<"head" | number>;

export class TranscriptModel {
  readonly turns: TurnModel[] = [];
  private readonly byId = new Map<string, TurnModel>();
  private stale = new Map<TurnModel, Stale>();

  replaceAll(view: TranscriptView): void {
    this.turns.length = 0;
    this.byId.clear();
    this.stale.clear();
    for (const { head, blocks } of view.turns) {
      this.addTurn({ head, blocks: [...blocks] });
    }
  }

  applyChanges(changes: readonly TranscriptChange[]): void {
    for (const change of changes) {
      if (change.kind === "turn") {
        const turn = this.byId.get(change.head.turnId) ?? this.addTurn({ head: change.head, blocks: [] });
        turn.head = change.head;
        this.markStale(turn, "head");
        this.markLastStale(turn);
        continue;
      }
      const turn = this.byId.get(change.turnId);
      if (turn !== undefined && this.block(turn, change)) {
        this.markStale(turn, change.index);
      }
    }
  }

  /** Returns what changed since the last call. */
  takeStale(): ReadonlyMap<TurnModel, Stale> {
    const taken = this.stale;
    this.stale = new Map();
    return taken;
  }

  private block(turn: TurnModel, change: Exclude<TranscriptChange, { kind: "turn" }>): boolean {
    if (change.kind === "block") {
      if (change.index >= turn.blocks.length) {
        this.markLastStale(turn); // that block is complete now
      }
      turn.blocks[change.index] = change.block;
      return true;
    }
    const block = turn.blocks[change.index];
    if (block === undefined || !("text" in block) || block.text.length !== change.from) {
      return false;
    }
    turn.blocks[change.index] = { ...block, text: block.text + change.delta };
    return true;
  }

  private addTurn(turn: TurnModel): TurnModel {
    this.turns.push(turn);
    this.byId.set(turn.head.turnId, turn);
    return turn;
  }

  private markLastStale(turn: TurnModel): void {
    if (turn.blocks.length > 0) {
      this.markStale(turn, turn.blocks.length - 1);
    }
  }

  private markStale(turn: TurnModel, part: "head" | number): void {
    const parts = this.stale.get(turn) ?? new Set();
    this.stale.set(turn, parts.add(part));
  }
}

/** Can more text be added at the end of the block? */
export function grows(turn: TurnModel, index: number): boolean {
  return turn.head.state === "running" && index === turn.blocks.length - 1;
}

/** A key that stays the same when the session is loaded again. */
export function keyOf(turn: TurnModel, index: number): string {
  const block = turn.blocks[index];
  return `${turn.head.turnId}/${block?.kind === "toolCall" ? block.toolCallId : index}`;
}
