/** Resolves paths that a model wrote, but only to files in the workspace. */

import { realpath, stat } from "node:fs/promises";
import * as path from "node:path";

/** The file at a path relative to a workspace folder. Undefined if there is no such file inside the folders. */
export async function resolveInFolders(folders: readonly string[], named: string): Promise<string | undefined> {
  if (named.includes("\0") || /^[/\\]{2}/.test(named)) {
    return undefined; // on Windows, opening //host/share sends a login to the host
  }
  for (const folder of folders) {
    const found = await resolveInFolder(folder, path.resolve(folder, named));
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** Follows links before it checks that the file is inside. */
async function resolveInFolder(folder: string, file: string): Promise<string | undefined> {
  try {
    const relative = path.relative(await realpath(folder), await realpath(file));
    const isInside = relative !== "" && !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
    return isInside && (await stat(file)).isFile() ? file : undefined;
  } catch {
    return undefined; // the file does not exist
  }
}
