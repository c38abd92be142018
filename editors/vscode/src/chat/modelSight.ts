/** Does a model see images? Asked once for each model, when an image is attached. */

import type { Server } from "../model/server";

interface Listed {
  readonly models: readonly { readonly id: string; readonly images?: boolean | null }[];
}

const known = new Map<string, boolean | undefined>();

/** Undefined: not known. Then the server says so after it was refused. */
export async function seesImages(server: Server, model: string): Promise<boolean | undefined> {
  if (!known.has(model) && server.running && model.includes("/")) {
    try {
      const { models } = await server.executeCommand<Listed>("tark.models.list", { provider: model.split("/")[0] });
      known.set(model, models.find(({ id }) => id === model)?.images ?? undefined);
    } catch {
      return undefined; // its provider does not answer now
    }
  }
  return known.get(model);
}
