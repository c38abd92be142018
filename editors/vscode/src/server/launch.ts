/** Finds the server, starts its process, and starts the language client. */

import { mkdir } from "node:fs/promises";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { errorMessage } from "../window/notify";
import type { StartConfiguration } from "./configuration";
import { compatibilityProblem } from "./compatibility";
import { discoverServer, type FoundServer } from "./discovery";
import type { ClientHandlers } from "./languageClient";
import { ServerProcess } from "./process";
import { NoServerError } from "../model/server";
import { discoveryEnvironment } from "./environment";
import type { ServerWarnings } from "./warnings";

export interface RunningServer {
  readonly client: LanguageClient;
  readonly process: ServerProcess;
  readonly found: FoundServer;
  /** The configuration the server was started with, as JSON. A different configuration needs a restart. */
  startedWith: string;
}

/** Rejects with a message for the user. */
export async function findServer(context: vscode.ExtensionContext, trouble: ServerWarnings): Promise<FoundServer> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length > 0 && folders.every(({ uri }) => uri.scheme !== "file")) {
    throw new Error("the files of this workspace are not on disk, so the server cannot read them: open a folder that is");
  }
  const skipped: string[] = [];
  const found = await discoverServer(await discoveryEnvironment(context, (program) => void skipped.push(program)));
  skipped.forEach((program) => void trouble.offerSkippedProgram(program));
  if (found === undefined) {
    throw new NoServerError(skipped[0]);
  }
  return found;
}

/** The working folder is not in the workspace, because `python -m` imports from it. */
export async function spawnServer(context: vscode.ExtensionContext, found: FoundServer, { keys }: StartConfiguration): Promise<ServerProcess> {
  const folder = context.globalStorageUri.fsPath;
  await mkdir(folder, { recursive: true });
  return new ServerProcess(found, processEnvironment(keys), folder);
}

/**
 * Resolves when the server has answered `initialize`. Otherwise ends the process and rejects with a message for the
 * user.
 */
export async function startClient(process: ServerProcess, beginning: StartConfiguration, rim: ClientHandlers, trouble: ServerWarnings): Promise<RunningServer> {
  const { newLanguageClient } = await import("./languageClient"); // the largest part of the extension, loaded late
  const { found } = process;
  rim.log.appendLine(`started ${found.command.join(" ")} (${found.source})`);
  const client = newLanguageClient(process, beginning.options, rim);
  const slow = trouble.warnIfSlow(found.command[0]);
  try {
    await Promise.race([client.start(), process.ended.then((ending) => Promise.reject(new Error(ending.description)))]);
    if (client.initializeResult === undefined) {
      throw new Error("it has not answered"); // if the process ends, the client can report a start
    }
  } catch (problem) {
    await process.endProcess();
    const ending = await process.ended;
    void client.dispose().catch(() => undefined);
    const why = ending.code === null && !ending.signal ? errorMessage(problem) : ending.description;
    throw new Error(`the server did not start: ${why}`, { cause: problem });
  } finally {
    slow.dispose();
  }
  const problem = compatibilityProblem(client.initializeResult);
  if (problem !== undefined) {
    void trouble.warnIncompatible(problem, found);
  }
  return { client, process, found, startedWith: JSON.stringify(beginning) };
}

/** Records that the server has accepted this option, as if it had been started with it. */
export function markOptionApplied(running: RunningServer, { options }: StartConfiguration, option: string): void {
  const started = JSON.parse(running.startedWith) as StartConfiguration;
  const now = Object.keys(options).map((key) => [key, key === option ? options[key] : started.options[key]]);
  running.startedWith = JSON.stringify({ ...started, options: Object.fromEntries(now) as object });
}

function processEnvironment(keys: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { ELECTRON_RUN_AS_NODE: _, ...own } = process.env; // the agent may run Electron programs
  return { ...own, ...keys };
}
