/** Loads the state of a server that has just started. */

import type { Hunk, Optional, ServerState } from "../model/protocol";
import type { Updates } from "../model/updates";
import type { Server } from "../model/server";

type Listed = Hunk & { readonly uri: string; readonly version?: Optional<number> };

export async function refresh(server: Server, updates: Updates): Promise<void> {
  updates.applyServerState(await server.executeCommand<ServerState>("tark.state"));
  updates.setAllHunks((await server.executeCommand<{ hunks: readonly Listed[] }>("tark.hunk.list")).hunks);
}
