/** The parts of the extension that others build on, and what a command gets to work with. */

import type { ChatView } from "./chat/view";
import type { Inputs } from "./asking/input";
import type { Permissions } from "./asking/permission";
import type { Reports } from "./status/report";
import type { Review } from "./review/review";
import type { RunningTurns } from "./model/runningTurns";
import type { Client } from "./server/client";
import type { Secrets } from "./server/secrets";
import type { Server } from "./server/server";
import type { Sessions } from "./model/sessions";
import type { Turns } from "./turns/turn";
import type { Undo } from "./turns/undo";
import type { Updates } from "./model/updates";
import type { Waiting } from "./asking/waiting";

/** What is there before any view. */
export interface Core {
  readonly server: Server;
  readonly updates: Updates;
  readonly waiting: Waiting;
  readonly sessions: Sessions;
  readonly turns: Turns;
  readonly running: RunningTurns;
  readonly undo: Undo;
}

export interface Parts extends Core {
  readonly client: Client;
  readonly secrets: Secrets;
  readonly reports: Reports;
  readonly chat: ChatView;
  readonly review: Review;
  readonly permissions: Permissions;
  readonly inputs: Inputs;
  install(): Promise<void>;
}
