/** Files that the chat names: opened only where they are in the workspace, whatever the model calls them. */

import { realpath, stat } from "node:fs/promises";
import * as path from "node:path";

/** The file that a path means, from a workspace folder; undefined where there is none inside of them. */
export async function resolveIn(folders: readonly string[], named: string): Promise<string | undefined> {
  if (named.includes("\0") || /^[/\\]{2}/.test(named)) {
    return undefined; // on Windows a look at //host/share logs in there
  }
  for (const folder of folders) {
    const found = await inside(folder, path.resolve(folder, named));
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** Links are followed before it is said where the file is. */
async function inside(folder: string, file: string): Promise<string | undefined> {
  try {
    const relative = path.relative(await realpath(folder), await realpath(file));
    const isInside = relative !== "" && !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
    return isInside && (await stat(file)).isFile() ? file : undefined;
  } catch {
    return undefined; // there is no such file
  }
}
