import { Card, Column, Listener } from "./types";

export class Board {
  private columns: Column[] = [];
  private listeners = new Set<Listener>();

  constructor(private readonly name: string) {}

  add(title: string): Column {
    const column = { title, cards: [] };
    this.columns.push(column);
    this.tell({ kind: "column", title });
    return column;
  }

  move(card: Card, from: Column, to: Column): void {
    const at = from.cards.indexOf(card);
    if (at < 0) {
      throw new Error(`no such card in ${from.title}`);
    }
    from.cards.splice(at, 1);
    to.cards.push(card);
    this.tell({ kind: "card", title: to.title });
  }

  remove(card: Card, from: Column): void {
    const at = from.cards.indexOf(card);
    if (at < 0) {
      throw new Error(`no such card in ${from.title}`);
    }
    from.cards.splice(at, 1);
    this.tell({ kind: "card", title: from.title });
  }

  find(text: string): Card[] {
    const found: Card[] = [];
    for (const column of this.columns) {
      for (const card of column.cards) {
        if (card.text.includes(text)) {
          found.push(card);
        }
      }
    }
    return found;
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private tell(change: { kind: string; title: string }): void {
    for (const listener of this.listeners) {
      listener({ ...change, board: this.name });
    }
  }
}
