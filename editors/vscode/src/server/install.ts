/** Installs the server into a Python environment of the extension, and shows the progress. */

import { mkdir, readdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { showInfo, showWarning } from "../window/notify";
import type { Client } from "./client";
import { executableName, resolveProgram, FROM_OWN_ENVIRONMENT, PROGRAM, scriptsFolder, type DiscoveryEnvironment } from "./discovery";
import { CancelledError, ProgramError, runLogged } from "./programs";
import { environmentInUse, discoveryEnvironment, useEnvironment } from "./environment";

const OLDEST = [3, 11] as const;
const PYTHONS = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];

type Run = (program: string, ...given: string[]) => Promise<string>;

let installation: Promise<void> | undefined;

/** Only one installation runs at a time. */
export function installServer(context: vscode.ExtensionContext, client: Client): Promise<void> {
  return (installation ??= runInstallation(context, client).finally(() => (installation = undefined)));
}

async function runInstallation(context: vscode.ExtensionContext, client: Client): Promise<void> {
  const title = "Tark: installing the server";
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const giveUp = new vscode.CancellationTokenSource();
  const closing = { dispose: () => giveUp.cancel() };
  context.subscriptions.push(closing); // if the window is closed meanwhile
  try {
    await vscode.window.withProgress(options, async (progress, token) => {
      token.onCancellationRequested(() => giveUp.cancel());
      await createEnvironment(
        context,
        // Not in the workspace, so that Python imports nothing from it.
        (program, ...given) => runLogged(client.log, context.globalStorageUri.fsPath, giveUp.token, program, given),
        (message) => progress.report({ message }),
      );
    });
    await client.restart();
    const from = client.foundServer?.source ?? FROM_OWN_ENVIRONMENT;
    const version = client.version ?? "version unknown";
    void showInfo(`the server is installed and runs (${version})${from === FROM_OWN_ENVIRONMENT ? "" : `; the running one comes from ${from}`}`);
  } catch (problem) {
    if (!(problem instanceof CancelledError)) {
      void showFailure(client, problem as Error);
    }
  } finally {
    context.subscriptions.splice(context.subscriptions.indexOf(closing), 1);
  }
}

/** The current environment stays in use until the new one is complete. */
async function createEnvironment(context: vscode.ExtensionContext, run: Run, report: (message: string) => void): Promise<void> {
  const around = await discoveryEnvironment(context);
  const storage = context.globalStorageUri.fsPath;
  const former = environmentInUse(context);
  const name = `server-${Date.now()}`;
  const environment = join(storage, name);
  await mkdir(storage, { recursive: true });
  report("Looking for Python…");
  const python = await findPython(around, run);
  try {
    await fillEnvironment(context, around, environment, python, run, report);
  } catch (problem) {
    await rm(environment, { recursive: true, force: true });
    throw problem;
  }
  await useEnvironment(context, name);
  // Another window can still use the previous environment, or create its own. Older or incomplete ones are removed.
  const old = (await readdir(storage)).filter((folder) => folder.startsWith("server") && folder < former);
  await Promise.allSettled(old.map((folder) => rm(join(storage, folder), { recursive: true, force: true })));
}

async function fillEnvironment(
  context: vscode.ExtensionContext,
  around: DiscoveryEnvironment,
  environment: string,
  python: string,
  run: Run,
  report: (message: string) => void,
): Promise<void> {
  report("Creating an environment…");
  await run(python, "-I", "-m", "venv", environment).catch(withContext("the environment could not be created"));
  const own = join(scriptsFolder(around, environment), executableName(around, "python"));
  const what = await packageRequirement(context);
  report(`Installing ${basename(what)}…`);
  await run(own, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar=off", what).catch(
    withContext(`${basename(what)} could not be installed`),
  );
  report("Starting the server…");
  await run(join(scriptsFolder(around, environment), executableName(around, PROGRAM)), "--version").catch(
    withContext("the installed server does not start"),
  );
}

/**
 * The first Python in PATH that is new enough, else the selected one, which can be deleted together with its project.
 */
async function findPython(around: DiscoveryEnvironment, run: Run): Promise<string> {
  const selected = around.isTrusted ? await around.python() : undefined;
  const others = await Promise.all(PYTHONS.map((name) => resolveProgram(around, name)));
  let seen = "";
  for (const python of [...others, selected]) {
    const version = python && (await run(python, "-I", "-c", "import sys; print(*sys.version_info[:2])").catch(ignoreFailure));
    const [major, minor] = version ? version.trim().split(" ").map(Number) : [];
    if (python && major !== undefined && minor !== undefined) {
      if (major === OLDEST[0] && minor >= OLDEST[1]) {
        return python;
      }
      seen = ` (only ${major}.${minor})`;
    }
  }
  throw new ProgramError(`no Python ${OLDEST.join(".")} or newer was found${seen}: install Python, or set tark.server.command`);
}

function ignoreFailure(problem: unknown): string {
  if (problem instanceof CancelledError) {
    throw problem;
  }
  return "";
}

/**
 * A package name with an optional version, or the path of a wheel, but not an option of pip. Unset: the bundled wheel.
 */
async function packageRequirement(context: vscode.ExtensionContext): Promise<string> {
  const value = vscode.workspace.getConfiguration("tark").inspect<unknown>("server.package")?.globalValue;
  const what = typeof value === "string" && value.trim() !== "" ? value.trim() : await bundledWheel(context);
  if (what.startsWith("-")) {
    throw new ProgramError("tark.server.package must be the name of a package or the path of a wheel");
  }
  return /^~[/\\]/.test(what) ? join(homedir(), what.slice(2)) : what;
}

/** Never installed by name alone, since anybody can publish a package of that name. */
async function bundledWheel(context: vscode.ExtensionContext): Promise<string> {
  const folder = join(context.extensionPath, "server");
  const wheel = (await readdir(folder).catch(() => [])).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) {
    throw new ProgramError("this extension comes without a server: set tark.server.package to the path of a wheel");
  }
  return join(folder, wheel);
}

function withContext(what: string): (problem: unknown) => never {
  return (problem) => {
    throw problem instanceof ProgramError ? new ProgramError(`${what}: ${problem.message}`) : problem;
  };
}

async function showFailure(client: Client, problem: Error): Promise<void> {
  const choice = await showWarning(problem.message, "Show Output", "Open Settings");
  if (choice === "Show Output") {
    client.log.show(true);
  } else if (choice === "Open Settings") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "tark.server");
  }
}
