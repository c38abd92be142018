/** The transcript as the page holds it, and what of it is to be drawn anew. Pure. */

import type { BlockView, TranscriptChange, TranscriptView, TurnHead } from "../messages";

export interface TurnModel {
  head: TurnHead;
  readonly blocks: BlockView[];
}

/** Of a turn: its head and end, and blocks by their indexes. */
export type Stale = Set<"head" | number>;

export class Model {
  readonly turns: TurnModel[] = [];
  private readonly byId = new Map<string, TurnModel>();
  private stale = new Map<TurnModel, Stale>();

  whole(view: TranscriptView): void {
    this.turns.length = 0;
    this.byId.clear();
    this.stale.clear();
    for (const { head, blocks } of view.turns) {
      this.add({ head, blocks: [...blocks] });
    }
  }

  apply(changes: readonly TranscriptChange[]): void {
    for (const change of changes) {
      if (change.kind === "turn") {
        const turn = this.byId.get(change.head.turnId) ?? this.add({ head: change.head, blocks: [] });
        turn.head = change.head;
        this.touch(turn, "head");
        this.touchLast(turn);
        continue;
      }
      const turn = this.byId.get(change.turnId);
      if (turn !== undefined && this.block(turn, change)) {
        this.touch(turn, change.index);
      }
    }
  }

  /** What was touched since the last time. */
  take(): ReadonlyMap<TurnModel, Stale> {
    const taken = this.stale;
    this.stale = new Map();
    return taken;
  }

  private block(turn: TurnModel, change: Exclude<TranscriptChange, { kind: "turn" }>): boolean {
    if (change.kind === "block") {
      if (change.index >= turn.blocks.length) {
        this.touchLast(turn); // nothing is added to that one any more
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

  private add(turn: TurnModel): TurnModel {
    this.turns.push(turn);
    this.byId.set(turn.head.turnId, turn);
    return turn;
  }

  private touchLast(turn: TurnModel): void {
    if (turn.blocks.length > 0) {
      this.touch(turn, turn.blocks.length - 1);
    }
  }

  private touch(turn: TurnModel, part: "head" | number): void {
    const parts = this.stale.get(turn) ?? new Set();
    this.stale.set(turn, parts.add(part));
  }
}

/** May more words come at its end? */
export function grows(turn: TurnModel, index: number): boolean {
  return turn.head.state === "running" && index === turn.blocks.length - 1;
}

/** The same after the session is loaded anew. */
export function keyOf(turn: TurnModel, index: number): string {
  const block = turn.blocks[index];
  return `${turn.head.turnId}/${block?.kind === "toolCall" ? block.toolCallId : index}`;
}
