/** One process of the server: started where it was found, and spoken to as the contract says. */

import { mkdir } from "node:fs/promises";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { words } from "../status/notify";
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
  started: string;
}

/** Fails with words for the person. */
export async function find(context: vscode.ExtensionContext, trouble: Trouble): Promise<Found> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length > 0 && folders.every(({ uri }) => uri.scheme !== "file")) {
    throw new Error("the files of this workspace are on no disk, so the server cannot read them: open a folder that is on one");
  }
  const passedOver: string[] = [];
  const found = await discover(await surroundings(context, (program) => void passedOver.push(program)));
  passedOver.forEach((program) => void trouble.passedOver(program));
  if (found === undefined) {
    throw new NoServer(passedOver[0]);
  }
  return found;
}

/** Not in a folder of the workspace: `python -m` would import what is there. */
export async function spawned(context: vscode.ExtensionContext, found: Found, { keys }: Beginning): Promise<ServerProcess> {
  const folder = context.globalStorageUri.fsPath;
  await mkdir(folder, { recursive: true });
  return new ServerProcess(found, environment(keys), folder);
}

/** Once it has answered `initialize`; where it does not, nothing of it is left. Fails with words for the person. */
export async function launch(process: ServerProcess, beginning: Beginning, rim: Rim, trouble: Trouble): Promise<Running> {
  const { newLanguageClient } = await import("./languageClient"); // the large part, which nobody waits for before
  const { found } = process;
  rim.log.appendLine(`started ${found.command.join(" ")} (${found.from})`);
  const client = newLanguageClient(process, beginning.options, rim);
  const slow = trouble.slow(found.command[0]);
  try {
    await Promise.race([client.start(), process.ended.then((ending) => Promise.reject(new Error(ending.words)))]);
    if (client.initializeResult === undefined) {
      throw new Error("it has not answered"); // where the process ends, the client may call that started
    }
  } catch (problem) {
    await process.end();
    const ending = await process.ended;
    void client.dispose().catch(() => undefined);
    const why = ending.code === null && !ending.signal ? words(problem) : ending.words;
    throw new Error(`the server did not start: ${why}`, { cause: problem });
  } finally {
    slow.dispose();
  }
  const problem = problemWith(client.initializeResult);
  if (problem !== undefined) {
    void trouble.contract(problem, found);
  }
  return { client, process, found, started: JSON.stringify(beginning) };
}

/** This one of the options it has by now, as if it had been started with it. */
export function takeOver(running: Running, { options }: Beginning, option: string): void {
  const started = JSON.parse(running.started) as Beginning;
  const now = Object.keys(options).map((key) => [key, key === option ? options[key] : started.options[key]]);
  running.started = JSON.stringify({ ...started, options: Object.fromEntries(now) as object });
}

function environment(keys: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { ELECTRON_RUN_AS_NODE: _, ...own } = process.env; // programs that the agent runs may be Electron's
  return { ...own, ...keys };
}
