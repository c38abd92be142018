/**
 * Shows the progress of the server's work: first in the status bar item, after two seconds in a notification with a
 * Cancel button.
 */

import * as vscode from "vscode";
import { notificationText } from "../text/surfaces";
import { showResult } from "../window/notify";

const LATER_MS = 2_000;
const WAITING = "waiting for you"; // the request has a notification of its own (asking/)

/** The value of `$/progress`. */
export interface ProgressValue {
  readonly kind: "begin" | "report" | "end";
  readonly title?: string;
  readonly message?: string;
  readonly cancellable?: boolean;
}

export class Progress implements vscode.Disposable {
  private readonly shown = new Map<string | number, Work>();

  /** `changed` is called when work starts, continues or ends. A visible chat shows the progress of turns itself. */
  constructor(
    private readonly changed: () => void,
    private readonly isChatVisible: () => boolean,
  ) {}

  /** The last message of the most recent work. */
  get activity(): string {
    return [...this.shown.values()].at(-1)?.message ?? "";
  }

  updateProgress(token: string | number, value: ProgressValue, cancel: () => void): void {
    const message = value.message ?? "";
    if (value.kind === "begin") {
      this.shown.get(token)?.end();
      this.shown.set(token, new Work(value.title ?? "Tark", value.cancellable === true ? cancel : undefined, this.isChatVisible));
    }
    if (value.kind === "end") {
      this.shown.get(token)?.end();
      this.shown.delete(token);
      if (message !== "") {
        showResult(message);
      }
    } else if (message !== "") {
      this.shown.get(token)?.setMessage(message);
    }
    this.changed();
  }

  /** The chat was shown or hidden. */
  redraw(): void {
    this.shown.forEach((work) => work.draw());
  }

  /** The server has ended, and so has its work. */
  clear(): void {
    for (const work of this.shown.values()) {
      work.end();
    }
    this.shown.clear();
  }

  dispose(): void {
    this.clear();
  }
}

/** Work gets a notification only after it has taken long enough that the user might want to cancel it. */
class Work {
  message = "";
  private isLong = false;
  private report: ((message: string) => void) | undefined;
  private close: () => void = () => undefined;
  private readonly later: NodeJS.Timeout;

  constructor(
    private readonly title: string,
    private readonly cancel: (() => void) | undefined,
    private readonly isChatVisible: () => boolean,
  ) {
    this.later = setTimeout(() => {
      this.isLong = cancel !== undefined;
      this.draw();
    }, LATER_MS);
  }

  setMessage(message: string): void {
    this.message = message;
    this.draw();
  }

  end(): void {
    clearTimeout(this.later);
    this.isLong = false;
    this.draw();
  }

  draw(): void {
    if (!this.isLong || this.isChatVisible() || this.message.startsWith(WAITING)) {
      this.close();
      this.report = undefined;
    } else if (this.report === undefined) {
      this.open();
    } else {
      this.report(notificationText(this.message));
    }
  }

  private open(): void {
    const options = { location: vscode.ProgressLocation.Notification, title: notificationText(this.title), cancellable: true };
    const done = new Promise<void>((resolve) => (this.close = resolve));
    this.report = () => undefined; // until the notification is there
    void vscode.window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(() => this.cancel?.());
      this.report = (message) => progress.report({ message });
      this.report(notificationText(this.message));
      return done;
    });
  }
}
