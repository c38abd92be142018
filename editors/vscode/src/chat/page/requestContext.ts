/** What a row of a pending request gets from the list of requests. */

import type { ToHost } from "../messages";
import type { DraftAnswer, Page } from "./page";

export interface RequestContext {
  readonly page: Page;
  folders(): readonly string[];
  answer(message: Extract<ToHost, { kind: "permission" | "input" }>): void;
  /** The text and ticks that the user entered before. */
  readonly typed: DraftAnswer;
  keep(typed: DraftAnswer): void;
}
