/** Installs the server into an environment of Python of the extension's own, and shows how that goes. */

import { mkdir, readdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { say, warn } from "../status/notify";
import type { Client } from "./client";
import { executable, named, OWN, PROGRAM, programsOf, type Surroundings } from "./discovery";
import { Cancelled, Failed, runLogged } from "./programs";
import { environmentInUse, surroundings, useEnvironment } from "./surroundings";

const OLDEST = [3, 11] as const;
const PYTHONS = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];

type Run = (program: string, ...given: string[]) => Promise<string>;

let going: Promise<void> | undefined;

/** The button, and the command: one at a time. */
export function install(context: vscode.ExtensionContext, client: Client): Promise<void> {
  return (going ??= installNow(context, client).finally(() => (going = undefined)));
}

async function installNow(context: vscode.ExtensionContext, client: Client): Promise<void> {
  const title = "Tark: installing the server";
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const giveUp = new vscode.CancellationTokenSource();
  const closing = { dispose: () => giveUp.cancel() };
  context.subscriptions.push(closing); // where the window is closed meanwhile
  try {
    await vscode.window.withProgress(options, async (progress, token) => {
      token.onCancellationRequested(() => giveUp.cancel());
      await steps(
        context,
        // Not in the workspace: nothing of it is to be imported.
        (program, ...given) => runLogged(client.log, context.globalStorageUri.fsPath, giveUp.token, program, given),
        (message) => progress.report({ message }),
      );
    });
    await client.restart();
    const from = client.found?.from ?? OWN;
    const version = client.version ?? "version unknown";
    void say(`the server is installed and runs (${version})${from === OWN ? "" : `, but the one of ${from} is run`}`);
  } catch (problem) {
    if (!(problem instanceof Cancelled)) {
      void offer(client, problem as Error);
    }
  } finally {
    context.subscriptions.splice(context.subscriptions.indexOf(closing), 1);
  }
}

/** The server that is there goes on until another one is whole. */
async function steps(context: vscode.ExtensionContext, run: Run, tell: (what: string) => void): Promise<void> {
  const around = await surroundings(context);
  const storage = context.globalStorageUri.fsPath;
  const former = environmentInUse(context);
  const name = `server-${Date.now()}`;
  const environment = join(storage, name);
  await mkdir(storage, { recursive: true });
  tell("looking for Python…");
  const python = await findPython(around, run);
  try {
    await fill(context, around, environment, python, run, tell);
  } catch (problem) {
    await rm(environment, { recursive: true, force: true });
    throw problem;
  }
  await useEnvironment(context, name);
  // Another window may run the former, or be at one of its own. What is older than that, or was left half done, goes.
  const old = (await readdir(storage)).filter((each) => each.startsWith("server") && each < former);
  await Promise.allSettled(old.map((each) => rm(join(storage, each), { recursive: true, force: true })));
}

async function fill(
  context: vscode.ExtensionContext,
  around: Surroundings,
  environment: string,
  python: string,
  run: Run,
  tell: (what: string) => void,
): Promise<void> {
  tell("making an environment…");
  await run(python, "-I", "-m", "venv", environment).catch(explain("the environment could not be made"));
  const own = join(programsOf(around, environment), executable(around, "python"));
  const what = await requirement(context);
  tell(`installing ${basename(what)}…`);
  await run(own, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar=off", what).catch(
    explain(`${basename(what)} could not be installed`),
  );
  tell("starting it…");
  await run(join(programsOf(around, environment), executable(around, PROGRAM)), "--version").catch(
    explain("the installed server does not run"),
  );
}

/** The first in PATH that is new enough, else the selected one: what is selected in a project may go with it. */
async function findPython(around: Surroundings, run: Run): Promise<string> {
  const selected = around.trusted ? await around.python() : undefined;
  const others = await Promise.all(PYTHONS.map((name) => named(around, name)));
  let seen = "";
  for (const python of [...others, selected]) {
    const version = python && (await run(python, "-I", "-c", "import sys; print(*sys.version_info[:2])").catch(noFailure));
    const [major, minor] = version ? version.trim().split(" ").map(Number) : [];
    if (python && major !== undefined && minor !== undefined) {
      if (major === OLDEST[0] && minor >= OLDEST[1]) {
        return python;
      }
      seen = ` (only ${major}.${minor})`;
    }
  }
  throw new Failed(`no Python ${OLDEST.join(".")} or newer was found${seen}: install one, or set tark.server.command`);
}

function noFailure(problem: unknown): string {
  if (problem instanceof Cancelled) {
    throw problem;
  }
  return "";
}

/** A name, perhaps with a version, or the path of a wheel; no option of pip's. Unset: the one that the extension brings. */
async function requirement(context: vscode.ExtensionContext): Promise<string> {
  const value = vscode.workspace.getConfiguration("tark").inspect<unknown>("server.package")?.globalValue;
  const what = typeof value === "string" && value.trim() !== "" ? value.trim() : await shipped(context);
  if (what.startsWith("-")) {
    throw new Failed("tark.server.package is to be the name of a package, or the path of a wheel");
  }
  return /^~[/\\]/.test(what) ? join(homedir(), what.slice(2)) : what;
}

/** Never by its name alone, which anybody may give to a package of theirs. */
async function shipped(context: vscode.ExtensionContext): Promise<string> {
  const folder = join(context.extensionPath, "server");
  const wheel = (await readdir(folder).catch(() => [])).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) {
    throw new Failed("this extension was packed without a server: name a wheel in tark.server.package");
  }
  return join(folder, wheel);
}

function explain(what: string): (problem: unknown) => never {
  return (problem) => {
    throw problem instanceof Failed ? new Failed(`${what}: ${problem.message}`) : problem;
  };
}

async function offer(client: Client, problem: Error): Promise<void> {
  const choice = await warn(problem.message, "Show Output", "Open Settings");
  if (choice === "Show Output") {
    client.log.show(true);
  } else if (choice === "Open Settings") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "tark.server");
  }
}
