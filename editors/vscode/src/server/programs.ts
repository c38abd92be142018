/** Programs that are run to their end, with what they say in the log; given up, all that they began ends with them. */

import { type ChildProcess, spawn } from "node:child_process";
import type * as vscode from "vscode";

export class Failed extends Error {}
export class Cancelled extends Error {}

/** What it prints; fails with the last line of its complaint. */
export async function runLogged(
  log: vscode.OutputChannel,
  folder: string,
  token: vscode.CancellationToken,
  program: string,
  given: readonly string[],
): Promise<string> {
  cancelled(token);
  log.appendLine(`> ${[program, ...given].join(" ")}`);
  const detached = process.platform !== "win32"; // in a group of its own, which is ended as a whole
  const child = spawn(program, given, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], windowsHide: true, detached });
  const stopping = token.onCancellationRequested(() => end(child));
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

function end({ pid }: ChildProcess): void {
  if (pid === undefined) {
    return; // it was never started
  }
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true }).on("error", () => undefined);
    return;
  }
  try {
    process.kill(-pid, "SIGKILL"); // pip would ask its children first
  } catch {
    // it has just ended
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
