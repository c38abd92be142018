/** What was typed into the prompt and not sent: in the workspace's memory, so that no end of a window loses it. */

import type { Memento } from "vscode";

const KEY = "tark.chat.draft";
const KEEP_MS = 300;

export class Draft {
  private typed: string;
  private keeping: NodeJS.Timeout | undefined;

  constructor(private readonly memory: Memento) {
    this.typed = memory.get(KEY, "");
  }

  get words(): string {
    return this.typed;
  }

  set words(typed: string) {
    this.typed = typed;
    this.keeping ??= setTimeout(() => this.keep(), KEEP_MS);
  }

  keep(): void {
    clearTimeout(this.keeping);
    this.keeping = undefined;
    void this.memory.update(KEY, this.typed);
  }
}
