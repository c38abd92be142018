/** The unsent text of the prompt. It is kept in the workspace state, so it is not lost when the window closes. */

import type { Memento } from "vscode";

const KEY = "tark.chat.draft";
const KEEP_MS = 300;

export class PromptDraft {
  private typed: string;
  private keeping: NodeJS.Timeout | undefined;

  constructor(private readonly memory: Memento) {
    this.typed = memory.get(KEY, "");
  }

  get text(): string {
    return this.typed;
  }

  set text(typed: string) {
    this.typed = typed;
    this.keeping ??= setTimeout(() => this.save(), KEEP_MS);
  }

  save(): void {
    clearTimeout(this.keeping);
    this.keeping = undefined;
    void this.memory.update(KEY, this.typed);
  }
}
