/** What the parts of the page share: posting messages, and state that survives reloading the page. */

import type { ReplacedTurn, ToHost } from "../messages";

const MOST_OPENED = 500;

/**
 * Stored by `setState`, so it survives hiding and reloading the page. After a reload of the window, VS Code can return an
 * older state. So the text of the prompt is not here: the extension keeps it.
 */
export interface Kept {
  /** The id of its tab: VS Code passes it to the extension when it restores the tab. */
  tab?: string;
  /** The turn whose prompt the user edits. */
  instead?: ReplacedTurn;
  /** Blocks that the user opened, by key. Only the latest are kept. */
  opened: Record<string, boolean>;
  history: string[];
  /** Typed text and ticked boxes of pending requests, by id. */
  answers: Record<string, DraftAnswer>;
  /** The scroll position: a turn, and the pixels into it. Absent: scrolled to the end. */
  reading?: { readonly turnId: string; readonly offset: number };
}

export interface DraftAnswer {
  readonly words: string;
  readonly ticks: readonly string[];
}

export interface Page {
  readonly kept: Kept;
  readonly isMac: boolean;
  /** Call this after each change of `kept`. */
  keep(): void;
  post(message: ToHost): void;
  /** Announces a message to screen readers. */
  announce(words: string): void;
  /** Call this when the announcement is no longer true. */
  withdraw(words: string): void;
}

/**
 * Remembers whether a block is open. Records a click at once, because the "toggle" event comes later. If the block were
 * redrawn in between, it would be closed.
 */
export function rememberOpened(page: Page, key: string, summary: HTMLElement, block: HTMLDetailsElement): void {
  summary.addEventListener("click", () => keepOpened(page, key, !block.open));
  block.addEventListener("toggle", () => {
    if (block.open !== (page.kept.opened[key] === true)) {
      keepOpened(page, key, block.open);
    }
  });
}

/** Remembers whether a block is open. */
export function keepOpened({ kept, keep }: Page, key: string, open: boolean): void {
  const { [key]: _, ...others } = kept.opened;
  const latest = Object.entries(open ? { ...others, [key]: true } : others).slice(-MOST_OPENED);
  kept.opened = Object.fromEntries(latest);
  keep();
}
