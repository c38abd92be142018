/** Finds out whether a model sees images. */

import type { Server } from "../model/server";

interface Listed {
  readonly models: readonly { readonly id: string; readonly images?: boolean | null }[];
}

/** Undefined: not known. Then the server reports it if the provider refuses the images. The server caches model lists. */
export async function seesImages(server: Pick<Server, "running" | "executeCommand">, model: string): Promise<boolean | undefined> {
  const [provider = "", name] = model.split("/");
  if (!server.running || name === undefined) {
    return undefined;
  }
  try {
    const { models } = await server.executeCommand<Listed>("tark.models.list", { provider });
    return models.find(({ id }) => id === model)?.images ?? undefined;
  } catch {
    return undefined; // the provider does not answer now
  }
}
