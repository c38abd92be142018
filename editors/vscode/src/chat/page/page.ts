/** What the parts of the page share: how the extension is told, and what stays when the page goes. */

import type { Instead, ToHost } from "../messages";

const MOST_OPENED = 500;

/** All of it is in `setState`: it survives hiding and reloading. */
export interface Kept {
  prompt: string;
  /** The turn whose prompt is edited. */
  instead?: Instead;
  /** Pieces that the person opened, by key: the latest of them. */
  opened: Record<string, boolean>;
  history: string[];
  /** What is typed and ticked for requests that wait, by their ids. */
  answers: Record<string, Answer>;
  /** Where the person reads: a turn, and how many pixels into it. Absent: they follow the end. */
  reading?: { readonly turnId: string; readonly offset: number };
}

export interface Answer {
  readonly words: string;
  readonly ticks: readonly string[];
}

export interface Page {
  readonly kept: Kept;
  /** After each change of `kept`; `now`: it must not come back as it was, like a prompt that was sent. */
  keep(now?: boolean): void;
  tell(message: ToHost): void;
  /** Read aloud, in its turn. */
  announce(words: string): void;
}

/** A piece is open when it is drawn the next time. */
export function keepOpened({ kept, keep }: Page, key: string, open: boolean): void {
  const { [key]: _, ...others } = kept.opened;
  const latest = Object.entries(open ? { ...others, [key]: true } : others).slice(-MOST_OPENED);
  kept.opened = Object.fromEntries(latest);
  keep();
}
