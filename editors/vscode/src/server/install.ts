/** Installs the server into an environment of Python of the extension's own, and shows how that goes. */

import { spawn } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { say, warn } from "../notify";
import type { Client } from "./client";
import { executable, named, PROGRAM, programsOf, SETTING, type Surroundings } from "./discovery";
import { ownEnvironment, surroundings, useEnvironment } from "./surroundings";

const OLDEST = [3, 11] as const;
const PYTHONS = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];

class Failed extends Error {}
class Cancelled extends Error {}

type Run = (program: string, ...given: string[]) => Promise<string>;

/** The button, and the command. */
export async function install(context: vscode.ExtensionContext, client: Client): Promise<void> {
  const title = "Tark: installing the server";
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  try {
    await vscode.window.withProgress(options, (progress, token) =>
      steps(
        context,
        (program, ...given) => runLogged(client.log, context, token, program, given),
        (message) => progress.report({ message }),
      ),
    );
    await client.restart();
    const from = client.found?.from === SETTING ? `, but the one of ${SETTING} is run` : "";
    void say(`the server is installed and runs (${client.version ?? "version unknown"})${from}`);
  } catch (problem) {
    if (!(problem instanceof Cancelled)) {
      void offer(client, problem as Error);
    }
  }
}

/** The server that is there goes on until another one is whole. */
async function steps(context: vscode.ExtensionContext, run: Run, tell: (what: string) => void): Promise<void> {
  const around = await surroundings(context);
  const former = ownEnvironment(context);
  const name = `server-${Date.now()}`;
  const environment = join(context.globalStorageUri.fsPath, name);
  await mkdir(context.globalStorageUri.fsPath, { recursive: true });
  tell("looking for Python…");
  const python = await findPython(around, run);
  try {
    await fill(context, around, environment, python, run, tell);
  } catch (problem) {
    await rm(environment, { recursive: true, force: true });
    throw problem;
  }
  await useEnvironment(context, name);
  await rm(former, { recursive: true, force: true }).catch(() => undefined); // another window may hold it
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
  const what = packageSetting(context);
  tell(`installing ${what}…`);
  await run(own, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar=off", what).catch(
    explain(`${what} could not be installed`),
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

/** A name, perhaps with a version, or the path of a wheel; no option of pip's. Unset: what goes with the extension. */
function packageSetting(context: vscode.ExtensionContext): string {
  const value = vscode.workspace.getConfiguration("tark").inspect<unknown>("server.package")?.globalValue;
  const { version } = context.extension.packageJSON as { version: string };
  const what = typeof value === "string" && value.trim() !== "" ? value.trim() : `tark_lsp==${version}`;
  if (what.startsWith("-")) {
    throw new Failed("tark.server.package is to be the name of a package, or the path of a wheel");
  }
  return /^~[/\\]/.test(what) ? join(homedir(), what.slice(2)) : what;
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

/** What it prints; fails with the last line of its complaint. */
async function runLogged(
  log: vscode.OutputChannel,
  context: vscode.ExtensionContext,
  token: vscode.CancellationToken,
  program: string,
  given: readonly string[],
): Promise<string> {
  cancelled(token);
  log.appendLine(`> ${[program, ...given].join(" ")}`);
  // Not in the workspace: nothing of it is to be imported.
  const child = spawn(program, given, { cwd: context.globalStorageUri.fsPath, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
  const stopping = token.onCancellationRequested(() => child.kill());
  const said = { out: "", all: "" };
  child.stdout.on("data", (data: Buffer) => {
    said.out += data.toString();
    said.all += data.toString();
    log.append(data.toString());
  });
  child.stderr.on("data", (data: Buffer) => {
    said.all += data.toString();
    log.append(data.toString());
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", (problem) => reject(new Failed(problem.message)));
      child.once("close", resolve);
    });
    cancelled(token);
    if (code !== 0) {
      throw new Failed(complaint(said.all) || `${program} ended with ${code}`);
    }
    return said.out;
  } finally {
    stopping.dispose();
  }
}

function cancelled(token: vscode.CancellationToken): void {
  if (token.isCancellationRequested) {
    throw new Cancelled();
  }
}

function complaint(said: string): string {
  const lines = said.split("\n").map((line) => line.trim());
  return lines.findLast((line) => /^error:/i.test(line)) ?? lines.findLast((line) => line !== "") ?? "";
}
