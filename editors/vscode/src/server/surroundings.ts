/** What discovery.ts looks at, as it is on this machine and in this window. */

import { constants } from "node:fs";
import { access, readFile, realpath, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Surroundings } from "./discovery";

/** What is used of the Python extension's API. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

const AGREED = "tark.agreedPrograms";
const REFUSED = "tark.refusedPrograms";
const ENVIRONMENT = "tark.environment";
const SLOW_MS = 10_000; // for what another extension does

/** `passedOver`: a program of the workspace that is not run, as the person has not agreed to that. */
export async function surroundings(
  context: vscode.ExtensionContext,
  passedOver: (program: string) => void = () => undefined,
): Promise<Surroundings> {
  const setting = vscode.workspace.getConfiguration("tark").inspect<string[]>("server.command")?.globalValue;
  return {
    setting: isCommand(setting) ? setting : undefined,
    installer: await installer(context),
    trusted: vscode.workspace.isTrusted,
    folders: await foldersAndTheirNames(),
    agreed: context.globalState.get<readonly string[]>(AGREED, []),
    passedOver,
    platform: process.platform,
    environment: process.env,
    home: homedir(),
    own: join(context.globalStorageUri.fsPath, environmentInUse(context)),
    python: selectedPython,
    isProgram,
    real,
  };
}

/** `tark-lsp install vscode` leaves its own command beside package.json. */
function noteOfInstaller(context: vscode.ExtensionContext): string {
  return join(context.extensionPath, "installed.json");
}

async function installer(context: vscode.ExtensionContext): Promise<readonly string[] | undefined> {
  try {
    const { command } = JSON.parse(await readFile(noteOfInstaller(context), "utf8")) as { command?: unknown };
    return isCommand(command) ? command : undefined;
  } catch {
    return undefined; // it was installed otherwise
  }
}

/** The environment of Python that the extension has made for the server: its name below the extension's storage. */
export function environmentInUse(context: vscode.ExtensionContext): string {
  return context.globalState.get(ENVIRONMENT, "server");
}

/** Another one takes its place, as soon as it is whole, and that of the one that installed the extension. */
export async function useEnvironment(context: vscode.ExtensionContext, name: string): Promise<void> {
  await context.globalState.update(ENVIRONMENT, name);
  await rm(noteOfInstaller(context), { force: true }).catch(() => undefined); // else that one goes on, which is told
}

export async function agree(context: vscode.ExtensionContext, program: string): Promise<void> {
  await add(context, AGREED, program);
}

/** Not to be asked about again. */
export async function refuse(context: vscode.ExtensionContext, program: string): Promise<void> {
  await add(context, REFUSED, program);
}

export function isRefused(context: vscode.ExtensionContext, program: string): boolean {
  return context.globalState.get<readonly string[]>(REFUSED, []).includes(program);
}

async function add(context: vscode.ExtensionContext, name: string, program: string): Promise<void> {
  await context.globalState.update(name, [...context.globalState.get<readonly string[]>(name, []), program]);
}

/** Also where a folder was opened by a link to it. */
async function foldersAndTheirNames(): Promise<string[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return [...folders, ...(await Promise.all(folders.map(real)))];
}

async function selectedPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (extension === undefined) {
    return undefined;
  }
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), SLOW_MS));
  return Promise.race([askedOf(extension), late]);
}

async function askedOf(extension: vscode.Extension<PythonApi>): Promise<string | undefined> {
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

async function real(file: string): Promise<string> {
  return realpath(file).catch(() => file);
}

function isCommand(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
}
