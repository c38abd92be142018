/** One process of the server: started where it was found, and spoken to as the contract says. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { words } from "../notify";
import type { Beginning } from "./configuration";
import { problemWith } from "./contract";
import { discover, type Found } from "./discovery";
import type { Rim } from "./languageClient";
import { ServerProcess } from "./process";
import { NoServer } from "./server";
import { surroundings } from "./surroundings";
import type { Trouble } from "./trouble";

export interface Running {
  readonly client: LanguageClient;
  readonly process: ServerProcess;
  readonly found: Found;
  /** With what it was started: another one needs another server. */
  readonly started: string;
}

/** Fails with words for the person. */
export async function find(context: vscode.ExtensionContext): Promise<Found> {
  const found = await discover(await surroundings(context));
  if (found === undefined) {
    throw new NoServer();
  }
  return found;
}

/** Once it has answered `initialize`; where it does not, nothing of it is left. Fails with words for the person. */
export async function launch(found: Found, beginning: Beginning, rim: Rim, trouble: Trouble): Promise<Running> {
  const { newLanguageClient } = await import("./languageClient"); // the large part, which nobody waits for before
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file")?.uri.fsPath;
  const process = new ServerProcess(found, environment(beginning.keys), vscode.workspace.isTrusted ? folder : undefined);
  rim.log.appendLine(`started ${found.command.join(" ")} (${found.from})`);
  const client = newLanguageClient(process, beginning.options, rim);
  const slow = trouble.slow(found.command[0]);
  try {
    await Promise.race([client.start(), process.ended.then((ending) => Promise.reject(new Error(ending.words)))]);
  } catch (problem) {
    await process.end();
    const ending = await process.ended;
    const why = ending.code === null && !ending.signal ? words(problem) : ending.words;
    throw new Error(`the server did not start: ${why}`, { cause: problem });
  } finally {
    slow.dispose();
  }
  const problem = problemWith(client.initializeResult);
  if (problem !== undefined) {
    void trouble.contract(problem);
  }
  return { client, process, found, started: JSON.stringify(beginning) };
}

function environment(keys: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { ELECTRON_RUN_AS_NODE: _, ...own } = process.env; // programs that the agent runs may be Electron's
  return { ...own, ...keys };
}
