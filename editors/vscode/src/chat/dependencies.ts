/** The parts of the extension that the chat uses. */

import type { PendingRequests } from "../model/pendingRequests";
import type { Server } from "../model/server";
import type { Sessions } from "../model/sessions";
import type { Updates } from "../model/updates";
import type { Restore } from "../turns/restore";
import type { Turns } from "../turns/turns";
import type { Undo } from "../turns/undo";

export interface ChatDependencies {
  readonly server: Server;
  readonly updates: Updates;
  readonly pending: PendingRequests;
  readonly sessions: Sessions;
  readonly turns: Turns;
  readonly undo: Undo;
  readonly restore: Restore;
}
