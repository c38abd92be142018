/** Prompts that were sent from a box, to recall them. They are kept in the workspace state. */

import type { Memento } from "vscode";

const MOST = 50;

export class PromptHistory {
  private at: number | undefined; // index of the shown prompt

  constructor(
    private readonly memory: Memento,
    private readonly key: string,
  ) {}

  add(words: string): void {
    this.at = undefined;
    const others = this.prompts.filter((known) => known !== words);
    void this.memory.update(this.key, [...others, words].slice(-MOST));
  }

  /** Returns the earlier or later prompt; undefined at the end of the list. `typed`: the text in the box. */
  recall(step: -1 | 1, typed: string): string | undefined {
    const { prompts } = this;
    if (this.at === undefined && typed.trim() !== "") {
      this.add(typed); // so that it is not lost
      this.at = this.prompts.length - 1;
      return this.recall(step, typed);
    }
    const wanted = (this.at ?? prompts.length) + step;
    if (wanted < 0 || wanted > prompts.length) {
      return undefined;
    }
    this.at = wanted;
    return prompts[wanted] ?? "";
  }

  /** The user changed the shown prompt. */
  leave(): void {
    this.at = undefined;
  }

  private get prompts(): readonly string[] {
    return this.memory.get<readonly string[]>(this.key, []);
  }
}
