/** The server's process: how it is started, and how it ended, in words. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Found } from "./discovery";

const LAST_WORDS = 200;
const PATIENCE_MS = 3_000;

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** "exit code 1: No module named tark_lsp" */
  readonly words: string;
}

export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** When it is gone, or could not be started at all. */
  readonly ended: Promise<Ending>;
  private lastWords = "";

  constructor(
    readonly found: Found,
    environment: NodeJS.ProcessEnv,
    folder: string,
  ) {
    const [program, ...rest] = found.command;
    this.child = spawn(program, rest, { env: environment, cwd: folder, stdio: "pipe", windowsHide: true });
    this.child.stdin.on("error", () => undefined); // it is gone: told by its end
    this.child.stderr.on("data", (data: Buffer) => {
      this.lastWords = (this.lastWords + data.toString()).slice(-LAST_WORDS * 4);
    });
    this.ended = new Promise((resolve) => {
      this.child.once("error", (problem) => resolve({ code: null, signal: null, words: problem.message }));
      this.child.once("close", (code, signal) => resolve({ code, signal, words: this.words(code, signal) }));
    });
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }

  /** It was told to end, or does not listen: it is gone soon. */
  async end(): Promise<void> {
    const late = setTimeout(() => this.kill(), PATIENCE_MS);
    this.child.stdin.end();
    await this.ended;
    clearTimeout(late);
  }

  private words(code: number | null, signal: string | null): string {
    if (signal !== null) {
      return signal === "SIGKILL" ? "killed" : `ended by ${signal}`;
    }
    const last = this.lastWords.trim().split("\n").at(-1)?.trim().slice(0, LAST_WORDS);
    return last ? `exit code ${code}: ${last}` : `exit code ${code}`;
  }
}
