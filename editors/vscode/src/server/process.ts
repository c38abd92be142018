/** The process of the server: its start, and a description of its end. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { FoundServer } from "./discovery";

const LONGEST_MESSAGE = 200;
const PATIENCE_MS = 3_000;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** "exit code 1: No module named tark_lsp" */
  readonly description: string;
}

export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<ProcessExit>;
  private lastOutput = "";

  constructor(
    readonly found: FoundServer,
    environment: NodeJS.ProcessEnv,
    folder: string,
  ) {
    const [program, ...rest] = found.command;
    this.child = spawn(program, rest, { env: environment, cwd: folder, stdio: "pipe", windowsHide: true });
    this.child.stdin.on("error", () => undefined); // the process has ended, which `ended` reports
    this.child.stderr.on("data", (data: Buffer) => {
      this.lastOutput = (this.lastOutput + data.toString()).slice(-LONGEST_MESSAGE * 4);
    });
    this.ended = new Promise((resolve) => {
      this.child.once("error", (problem) => resolve({ code: null, signal: null, description: problem.message }));
      this.child.once("close", (code, signal) => resolve({ code, signal, description: this.words(code, signal) }));
    });
  }

  killProcess(): void {
    this.child.kill("SIGKILL");
  }

  /** Closes its input, and kills it if it does not end soon. */
  async endProcess(): Promise<void> {
    const late = setTimeout(() => this.killProcess(), PATIENCE_MS);
    this.child.stdin.end();
    await this.ended;
    clearTimeout(late);
  }

  private words(code: number | null, signal: string | null): string {
    if (signal !== null) {
      return signal === "SIGKILL" ? "killed" : `ended by ${signal}`;
    }
    const last = this.lastOutput.trim().split("\n").at(-1)?.trim().slice(0, LONGEST_MESSAGE);
    return last ? `exit code ${code}: ${last}` : `exit code ${code}`;
  }
}
