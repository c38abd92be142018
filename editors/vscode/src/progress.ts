/** Work of the server as it goes on: behind the status item at first, and after two seconds with a button that cancels it. */

import * as vscode from "vscode";
import { line } from "./visible";

const LATER_MS = 2_000;
const LAST_MS = 5_000;

/** What the server tells of it. */
export interface Told {
  readonly kind: "begin" | "report" | "end";
  readonly title?: string;
  readonly message?: string;
  readonly cancellable?: boolean;
}

interface Shown {
  message: string;
  report(): void;
  end(): void;
}

export class Progress implements vscode.Disposable {
  private readonly shown = new Map<string | number, Shown>();

  /** `changed`: something began, went on or ended. */
  constructor(private readonly changed: () => void) {}

  /** What went on last, in its own words. */
  get activity(): string {
    return [...this.shown.values()].at(-1)?.message ?? "";
  }

  told(token: string | number, told: Told, cancel: () => void): void {
    const message = told.message === undefined ? undefined : line(told.message);
    if (told.kind === "begin") {
      this.shown.get(token)?.end();
      this.shown.set(token, begin({ ...told, title: line(told.title ?? "Tark") }, message ?? "", cancel));
    }
    const shown = this.shown.get(token);
    if (told.kind === "end") {
      this.shown.delete(token);
      shown?.end();
      if (message) {
        vscode.window.setStatusBarMessage(`Tark: ${message}`, LAST_MS); // what it came to
      }
    } else if (shown !== undefined && message !== undefined) {
      shown.message = message;
      shown.report();
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
function begin({ title = "", cancellable = false }: Told, message: string, cancel: () => void): Shown {
  let close: () => void = () => undefined;
  const later = setTimeout(() => {
    const done = new Promise<void>((resolve) => (close = resolve));
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable };
    void vscode.window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(cancel);
      shown.report = () => progress.report({ message: shown.message });
      shown.report();
      return done;
    });
  }, LATER_MS);
  const shown: Shown = {
    message,
    report: () => undefined,
    end: () => {
      clearTimeout(later);
      close();
    },
  };
  return shown;
}
