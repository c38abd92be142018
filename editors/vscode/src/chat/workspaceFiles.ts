/** Resolves paths that a model wrote, but only to existing or new files in the workspace. */

import { lstat, realpath, stat } from "node:fs/promises";
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
    const isInside = isBelow(await realpath(folder), await realpath(file));
    return isInside && (await stat(file)).isFile() ? file : undefined;
  } catch {
    return undefined; // the file does not exist
  }
}

/** A path inside the folders where no file exists yet. No link in the path leads outside the folders. */
export async function newFileInFolders(folders: readonly string[], named: string): Promise<string | undefined> {
  const [folder] = folders;
  if (folder === undefined || path.isAbsolute(named) || named.includes("\0") || /[\\:]/.test(named)) {
    return undefined;
  }
  const file = path.resolve(folder, named);
  if (!isBelow(folder, file)) {
    return undefined;
  }
  for (let above = file; above !== folder; above = path.dirname(above)) {
    try {
      await lstat(above);
    } catch {
      continue; // it does not exist, so it is not a link
    }
    return above !== file && isBelow(await realpath(folder), path.join(await realpath(above), "x")) ? file : undefined;
  }
  return file;
}

function isBelow(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== "" && !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
}
