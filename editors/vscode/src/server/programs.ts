/** Runs a program until it ends, and logs its output. Cancelling ends its child processes, too. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type * as vscode from "vscode";

export class ProgramError extends Error {}
export class CancelledError extends Error {}

/** Returns its output. Rejects with the last line of its error. */
export async function runLogged(
  log: vscode.OutputChannel,
  folder: string,
  token: vscode.CancellationToken,
  program: string,
  given: readonly string[],
): Promise<string> {
  throwIfCancelled(token);
  log.appendLine(`> ${[program, ...given].join(" ")}`);
  const detached = process.platform !== "win32"; // in a separate process group, which is ended as a whole
  const child = spawn(program, given, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], windowsHide: true, detached });
  const stopping = token.onCancellationRequested(() => endProcessGroup(child));
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
      child.once("error", (problem) => reject(new ProgramError(problem.message)));
      child.once("close", resolve);
    });
    throwIfCancelled(token);
    if (code !== 0) {
      throw new ProgramError(errorLine(said.all) || `${program} ended with ${code}`);
    }
    return said.out;
  } finally {
    stopping.dispose();
  }
}

function endProcessGroup({ pid }: ChildProcess): void {
  if (pid === undefined) {
    return; // it was not started
  }
  if (process.platform === "win32") {
    const taskkill = join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "taskkill.exe"); // a bare name could be found in a repository
    spawn(taskkill, ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true }).on("error", () => undefined);
    return;
  }
  try {
    process.kill(-pid, "SIGKILL"); // a gentle signal would wait for the children of pip
  } catch {
    // it has just ended
  }
}

function throwIfCancelled(token: vscode.CancellationToken): void {
  if (token.isCancellationRequested) {
    throw new CancelledError();
  }
}

function errorLine(said: string): string {
  const lines = said.split("\n").map((line) => line.trim());
  return lines.findLast((line) => /^error:/i.test(line)) ?? lines.findLast((line) => line !== "") ?? "";
}
