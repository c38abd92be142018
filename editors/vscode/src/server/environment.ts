/** What discovery.ts needs to know about this machine and this window. */

import { constants } from "node:fs";
import { access, readFile, realpath, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { DiscoveryEnvironment } from "./discovery";

/** The part of the Python extension's API that is used. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

const APPROVED = "tark.agreedPrograms";
const REFUSED = "tark.refusedPrograms";
const ENVIRONMENT = "tark.environment";
const SLOW_MS = 10_000; // the limit for the Python extension

/** `onSkipped`: called for a program of the workspace that is not run, because the user has not allowed it. */
export async function discoveryEnvironment(
  context: vscode.ExtensionContext,
  onSkipped: (program: string) => void = () => undefined,
): Promise<DiscoveryEnvironment> {
  const setting = vscode.workspace.getConfiguration("tark").inspect<string[]>("server.command")?.globalValue;
  return {
    setting: isCommand(setting) ? setting : undefined,
    installer: await installer(context),
    isTrusted: vscode.workspace.isTrusted,
    folders: await foldersAndRealPaths(),
    approved: context.globalState.get<readonly string[]>(APPROVED, []),
    onSkipped,
    platform: process.platform,
    environment: process.env,
    home: homedir(),
    ownEnvironment: join(context.globalStorageUri.fsPath, environmentInUse(context)),
    python: selectedPython,
    isProgram,
    realPath: realPathOf,
  };
}

/** `tark-lsp install vscode` writes its own command into this file. */
function installerNote(context: vscode.ExtensionContext): string {
  return join(context.extensionPath, "installed.json");
}

async function installer(context: vscode.ExtensionContext): Promise<readonly string[] | undefined> {
  try {
    const { command } = JSON.parse(await readFile(installerNote(context), "utf8")) as { command?: unknown };
    return isCommand(command) ? command : undefined;
  } catch {
    return undefined; // the extension was installed in another way
  }
}

/** The Python environment that the extension created for the server: its folder name in the extension's storage. */
export function environmentInUse(context: vscode.ExtensionContext): string {
  return context.globalState.get(ENVIRONMENT, "server");
}

/** Switches to a complete new environment. It also replaces the server that installed the extension. */
export async function useEnvironment(context: vscode.ExtensionContext, name: string): Promise<void> {
  await context.globalState.update(ENVIRONMENT, name);
  await rm(installerNote(context), { force: true }).catch(() => undefined); // otherwise the other server stays in use, which a message says
}

export async function approveProgram(context: vscode.ExtensionContext, program: string): Promise<void> {
  await addToList(context, APPROVED, program);
}

/** Records that the user must not be asked about this program again. */
export async function refuseProgram(context: vscode.ExtensionContext, program: string): Promise<void> {
  await addToList(context, REFUSED, program);
}

export function isRefused(context: vscode.ExtensionContext, program: string): boolean {
  return context.globalState.get<readonly string[]>(REFUSED, []).includes(program);
}

async function addToList(context: vscode.ExtensionContext, name: string, program: string): Promise<void> {
  await context.globalState.update(name, [...context.globalState.get<readonly string[]>(name, []), program]);
}

/** Includes real paths, for folders that were opened through a link. */
async function foldersAndRealPaths(): Promise<string[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return [...folders, ...(await Promise.all(folders.map(realPathOf)))];
}

async function selectedPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (extension === undefined) {
    return undefined;
  }
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), SLOW_MS));
  return Promise.race([queryPythonExtension(extension), late]);
}

async function queryPythonExtension(extension: vscode.Extension<PythonApi>): Promise<string | undefined> {
  try {
    const { environments } = await extension.activate();
    const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
    const chosen = environments?.getActiveEnvironmentPath(resource);
    const resolved = chosen && (await environments?.resolveEnvironment(chosen));
    return resolved?.executable.uri?.fsPath;
  } catch (problem) {
    console.warn("Tark: the Python extension did not say which environment is selected:", problem);
    return undefined;
  }
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

async function realPathOf(file: string): Promise<string> {
  return realpath(file).catch(() => file);
}

function isCommand(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === "string");
}
