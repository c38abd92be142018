/** Work of the server as it goes on: in the status bar at first, and after two seconds with a button that cancels it. */

import * as vscode from "vscode";

const LATER_MS = 2_000;

/** What the server tells of it. */
export interface Told {
  readonly kind: "begin" | "report" | "end";
  readonly title?: string;
  readonly message?: string;
  readonly cancellable?: boolean;
}

type Report = (message: string) => void;

interface Shown {
  message: string;
  report: Report;
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
    if (told.kind === "begin") {
      this.shown.get(token)?.end();
      this.shown.set(token, begin(told, cancel));
    }
    const shown = this.shown.get(token);
    if (told.kind === "end") {
      this.shown.delete(token);
      shown?.end();
    } else if (shown !== undefined && told.message !== undefined) {
      shown.message = told.message;
      shown.report(told.message);
    }
    this.changed();
  }

  /** The server has ended. */
  dispose(): void {
    for (const each of this.shown.values()) {
      each.end();
    }
    this.shown.clear();
  }
}

function begin({ title = "Tark", message = "", cancellable = false }: Told, cancel: () => void): Shown {
  let close: () => void = () => undefined;
  const shown: Shown = {
    message,
    report: () => undefined,
    end: () => {
      clearTimeout(later);
      close();
    },
  };
  const show = (location: vscode.ProgressLocation): void => {
    const done = new Promise<void>((resolve) => {
      close = resolve;
    });
    const canCancel = cancellable && location === vscode.ProgressLocation.Notification;
    void vscode.window.withProgress({ location, title, cancellable: canCancel }, (progress, token) => {
      token.onCancellationRequested(cancel);
      shown.report = (words) => progress.report({ message: words });
      if (shown.message !== "") {
        shown.report(shown.message);
      }
      return done;
    });
  };
  const later = setTimeout(() => {
    if (cancellable) {
      close();
      show(vscode.ProgressLocation.Notification);
    }
  }, LATER_MS);
  show(vscode.ProgressLocation.Window);
  return shown;
}
