/**
 * Text that was typed into input boxes and not accepted. It is kept in the workspace state, so it is not lost when the
 * window closes.
 */

import type { Memento } from "vscode";

export class Drafts {
  private readonly texts: Map<string, string>;

  constructor(
    private readonly memory: Memento,
    private readonly key: string,
  ) {
    this.texts = new Map(Object.entries(memory.get<Record<string, string>>(key, {})));
  }

  /** The boxes that have a draft. */
  get boxes(): readonly string[] {
    return [...this.texts.keys()];
  }

  draftOf(box: string): string {
    return this.texts.get(box) ?? "";
  }

  saveDraft(box: string, typed: string): void {
    if (typed.trim() === "") {
      this.texts.delete(box);
    } else {
      this.texts.set(box, typed);
    }
    void this.memory.update(this.key, this.texts.size > 0 ? Object.fromEntries(this.texts) : undefined);
  }

  /** Call this when the text was accepted. If the draft has changed since, it stays. */
  clearDraft(box: string, accepted: string): void {
    if (this.draftOf(box).trim() === accepted.trim()) {
      this.saveDraft(box, "");
    }
  }
}
