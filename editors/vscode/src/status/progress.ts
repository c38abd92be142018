/** Work of the server as it goes on: behind the status item at first, and after two seconds with a button that cancels it. */

import * as vscode from "vscode";
import { line } from "../text/visible";

const LATER_MS = 2_000;
const LAST_MS = 5_000;
const WAITING = "waiting for you"; // what for is asked in a notification of its own (asking/)

/** What the server tells of it. */
export interface Told {
  readonly kind: "begin" | "report" | "end";
  readonly title?: string;
  readonly message?: string;
  readonly cancellable?: boolean;
}

export class Progress implements vscode.Disposable {
  private readonly shown = new Map<string | number, Work>();

  /** `changed`: something began, went on or ended. */
  constructor(private readonly changed: () => void) {}

  /** What went on last, in its own words. */
  get activity(): string {
    return [...this.shown.values()].at(-1)?.message ?? "";
  }

  told(token: string | number, told: Told, cancel: () => void): void {
    const message = line(told.message ?? "");
    if (told.kind === "begin") {
      this.shown.get(token)?.end();
      this.shown.set(token, new Work(line(told.title ?? "Tark"), told.cancellable === true ? cancel : undefined));
    }
    if (told.kind === "end") {
      this.shown.get(token)?.end();
      this.shown.delete(token);
      if (message !== "") {
        vscode.window.setStatusBarMessage(`Tark: ${message}`, LAST_MS); // what it came to
      }
    } else if (message !== "") {
      this.shown.get(token)?.say(message);
    }
    this.changed();
  }

  /** The server has ended, and its work with it. */
  clear(): void {
    for (const each of this.shown.values()) {
      each.end();
    }
    this.shown.clear();
  }

  dispose(): void {
    this.clear();
  }
}

/** The status item tells of it (status.ts) until it has taken so long that one may want to end it. */
class Work {
  message = "";
  private isLong = false;
  private report: ((message: string) => void) | undefined;
  private close: () => void = () => undefined;
  private readonly later: NodeJS.Timeout;

  constructor(
    private readonly title: string,
    private readonly cancel: (() => void) | undefined,
  ) {
    this.later = setTimeout(() => {
      this.isLong = cancel !== undefined;
      this.draw();
    }, LATER_MS);
  }

  say(message: string): void {
    this.message = message;
    this.draw();
  }

  end(): void {
    clearTimeout(this.later);
    this.isLong = false;
    this.draw();
  }

  private draw(): void {
    if (!this.isLong || this.message.startsWith(WAITING)) {
      this.close();
      this.report = undefined;
    } else if (this.report === undefined) {
      this.open();
    } else {
      this.report(this.message);
    }
  }

  private open(): void {
    const options = { location: vscode.ProgressLocation.Notification, title: this.title, cancellable: true };
    const done = new Promise<void>((resolve) => (this.close = resolve));
    this.report = () => undefined; // until it is there
    void vscode.window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(() => this.cancel?.());
      this.report = (message) => progress.report({ message });
      this.report(this.message);
      return done;
    });
  }
}
