/** How things stand at a server that has just started, so that views draw anew. */

import type { Hunk, Optional, ServerState } from "../model/protocol";
import type { Updates } from "../model/updates";
import type { Server } from "./server";

type Listed = Hunk & { readonly uri: string; readonly version?: Optional<number> };

export async function refresh(server: Server, updates: Updates): Promise<void> {
  updates.refreshed(await server.command<ServerState>("tark.state"));
  updates.allHunks((await server.command<{ hunks: readonly Listed[] }>("tark.hunk.list")).hunks);
}
