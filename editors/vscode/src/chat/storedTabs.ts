/**
 * What the chats in tabs show, and their unsent text. It is kept in the workspace state, so it outlives the window: what
 * VS Code stores of a page can be older, or be lost.
 */

import type { Memento } from "vscode";
import type { ChatMemory } from "./chat";

const KEY = "tark.chat.tabs";
const KEEP_MS = 300;
const MOST = 20; // tabs that were never shown again

interface Stored {
  readonly sessionId?: string;
  readonly text: string;
}

export class StoredTabs {
  private readonly tabs = new Set<TabMemory>();
  /** Those of the last window that are not shown yet: VS Code restores a tab when it is visible. */
  private readonly left: Stored[];
  private saving: NodeJS.Timeout | undefined;

  constructor(private readonly memory: Memento) {
    this.left = [...memory.get<readonly Stored[]>(KEY, [])];
  }

  /** A new tab. */
  add(stored: Stored): TabMemory {
    const tab = new TabMemory(stored, (now) => this.save(now));
    this.tabs.add(tab);
    this.save(true);
    return tab;
  }

  /** A tab of the last window. `sessionId`: what VS Code knows of it. */
  restore(sessionId: string | undefined): TabMemory {
    const known = this.left.findIndex((each) => sessionId !== undefined && each.sessionId === sessionId);
    const [stored] = this.left.splice(Math.max(known, 0), 1);
    return this.add(stored ?? { ...(sessionId !== undefined && { sessionId }), text: "" });
  }

  remove(tab: TabMemory): void {
    this.tabs.delete(tab);
    this.save(true);
  }

  private save(now: boolean): void {
    if (now) {
      clearTimeout(this.saving);
      this.saving = undefined;
      void this.memory.update(KEY, [...[...this.tabs].map((tab) => tab.stored), ...this.left.slice(-MOST)]);
    } else {
      this.saving ??= setTimeout(() => this.save(true), KEEP_MS);
    }
  }
}

export class TabMemory implements ChatMemory {
  constructor(
    private current: Stored,
    private readonly changed: (now: boolean) => void,
  ) {}

  get stored(): Stored {
    return this.current;
  }

  get text(): string {
    return this.current.text;
  }

  set text(text: string) {
    this.current = { ...this.current, text };
    this.changed(false);
  }

  save(): void {
    this.changed(true);
  }

  onSession(sessionId: string | undefined): void {
    const { text } = this.current;
    this.current = { ...(sessionId !== undefined && { sessionId }), text };
    this.changed(true);
  }
}
