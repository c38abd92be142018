/** What was typed into boxes and not taken: in the workspace's memory, so that no end of a window loses it. */

import type { Memento } from "vscode";

export class Drafts {
  private readonly words: Map<string, string>;

  constructor(
    private readonly memory: Memento,
    private readonly key: string,
  ) {
    this.words = new Map(Object.entries(memory.get<Record<string, string>>(key, {})));
  }

  /** That have words. */
  get boxes(): readonly string[] {
    return [...this.words.keys()];
  }

  of(box: string): string {
    return this.words.get(box) ?? "";
  }

  keep(box: string, typed: string): void {
    if (typed.trim() === "") {
      this.words.delete(box);
    } else {
      this.words.set(box, typed);
    }
    void this.memory.update(this.key, this.words.size > 0 ? Object.fromEntries(this.words) : undefined);
  }

  /** They were taken. Others that were typed meanwhile stay. */
  taken(box: string, words: string): void {
    if (this.of(box).trim() === words.trim()) {
      this.keep(box, "");
    }
  }
}
