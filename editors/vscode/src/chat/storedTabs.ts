/**
 * What the chats in tabs show, and their unsent text. It is kept in the workspace state, so it is not lost when the window
 * closes. VS Code stores only the id of the tab with its page, because the page state that it stores can be out of date.
 */

import { randomUUID } from "node:crypto";
import type { Memento } from "vscode";
import type { ChatMemory } from "./chat";

const KEY = "tark.chat.tabs";
const KEEP_MS = 300;
const MOST = 50; // tabs: VS Code does not restore every one

interface Stored {
  readonly id: string;
  readonly sessionId?: string;
  readonly text: string;
  readonly isClosed?: boolean;
}

export class StoredTabs {
  private readonly tabs = new Map<string, TabMemory>();
  private saving: NodeJS.Timeout | undefined;

  constructor(private readonly memory: Memento) {
    memory.get<readonly Stored[]>(KEY, []).slice(-MOST).forEach((stored) => this.hold(stored));
  }

  /** A new tab. */
  add(sessionId?: string): TabMemory {
    const tab = this.hold({ id: randomUUID(), ...(sessionId !== undefined && { sessionId }), text: "" });
    tab.save();
    return tab;
  }

  /** The tab with this id, of the last window. */
  restore(id: string | undefined): TabMemory {
    const tab = this.tabs.get(id ?? "") ?? this.add();
    tab.setClosed(false); // VS Code can restore a tab that was closed just before
    return tab;
  }

  /** Takes the unsent text of a closed tab with this session; undefined: of a tab without a session. "" if there is none. */
  takeText(sessionId: string | undefined): string {
    const closed = [...this.tabs.values()].find(({ stored }) => stored.isClosed && stored.sessionId === sessionId && stored.text !== "");
    const text = closed?.text ?? "";
    if (closed !== undefined) {
      closed.text = "";
      closed.save();
    }
    return text;
  }

  private hold(stored: Stored): TabMemory {
    const tab = new TabMemory(stored, (now) => this.save(now));
    this.tabs.set(stored.id, tab);
    return tab;
  }

  private save(now: boolean): void {
    if (now) {
      clearTimeout(this.saving);
      this.saving = undefined;
      const needed = [...this.tabs.values()].filter(({ stored }) => !stored.isClosed || stored.text !== "");
      void this.memory.update(KEY, needed.map(({ stored }) => stored));
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
    const { sessionId: _, ...others } = this.current;
    this.current = { ...others, ...(sessionId !== undefined && { sessionId }) };
    this.save();
  }

  /** The text of a closed tab stays until a chat takes it. */
  setClosed(isClosed: boolean): void {
    this.current = { ...this.current, isClosed };
    this.save();
  }
}
