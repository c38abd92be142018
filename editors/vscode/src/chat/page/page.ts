/** What the parts of the page share: how the extension is told, and what stays when the page goes. */

import type { ToHost } from "../messages";

/** All of it is in `setState`: it survives hiding and reloading. */
export interface Kept {
  prompt: string;
  /** The turn whose prompt is edited. */
  instead?: string;
  /** Pieces that the person opened or closed, by key. */
  opened: Record<string, boolean>;
  history: string[];
  /** Characters that do not follow the end: where the person reads. Absent: they are at the end. */
  scroll?: number;
}

export interface Page {
  readonly kept: Kept;
  /** After each change of `kept`. */
  keep(): void;
  tell(message: ToHost): void;
  /** Read aloud, in its turn. */
  announce(words: string): void;
}
