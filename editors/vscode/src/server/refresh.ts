/** Loads the state of a server that has just started. */

import type { Hunk, Optional, ServerState } from "../model/protocol";
import { ServerEndedError } from "../model/server";
import type { Updates } from "../model/updates";
import type { Calls } from "./calls";

type Listed = Hunk & { readonly uri: string; readonly version?: Optional<number> };

/**
 * Resolves with false if the server ended meanwhile, which is reported elsewhere. `log` gets any other problem.
 * `Calls` never start another server: how this one ended decides about a restart.
 */
export async function refresh(
  calls: Pick<Calls, "executeCommand">,
  updates: Pick<Updates, "applyServerState" | "setAllHunks">,
  log: (problem: unknown) => void,
): Promise<boolean> {
  try {
    updates.applyServerState(await calls.executeCommand<ServerState>("tark.state", {}));
    updates.setAllHunks((await calls.executeCommand<{ hunks: readonly Listed[] }>("tark.hunk.list", {})).hunks);
    return true;
  } catch (problem) {
    log(problem);
    return !(problem instanceof ServerEndedError);
  }
}
