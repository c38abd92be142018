/**
 * Shows the progress of the server's work: first in the status bar item, after two seconds in a notification with a
 * Cancel button. There is no notification while a request waits: only the time in which nothing waits for the user counts.
 * Pure.
 */

import type { Disposable } from "../model/events";
import type { State } from "../model/state";
import { activityInWords } from "../text/toolTitle";

const LATER_MS = 2_000;
/** A report is often followed by a request, or by the end. Without this, a notification is shown just before it. */
const SETTLED_MS = 500;
const WAITING = "waiting for you"; // it is reported just before the request comes, and until the next report

/** The value of `$/progress`. */
export interface ProgressValue {
  readonly kind: "begin" | "report" | "end";
  readonly title?: string;
  readonly message?: string;
  readonly cancellable?: boolean;
}

/** A notification that is open. */
export interface Toast {
  report(message: string): void;
  close(): void;
}

/** What Progress needs from the window. */
export interface ProgressWindow {
  /** Work has started, continued or ended. */
  changed(): void;
  /** A visible chat shows the progress of turns itself. */
  isChatVisible(): boolean;
  openToast(title: string, cancel: () => void): Toast;
  showResult(message: string): void;
}

export class Progress implements Disposable {
  private readonly shown = new Map<string | number, Work>();
  private readonly listening: readonly Disposable[];
  private waits = false;

  constructor(
    private readonly state: State,
    private readonly window: ProgressWindow,
  ) {
    const requested = (): void => this.requestsChanged();
    this.listening = [state.on("permission", requested), state.on("input", requested)];
  }

  /** The last message of the most recent work. */
  get activity(): string {
    return [...this.shown.values()].at(-1)?.message ?? "";
  }

  updateProgress(token: string | number, value: ProgressValue, cancel: () => void): void {
    const message = value.message ?? "";
    if (value.kind === "begin") {
      this.shown.get(token)?.end();
      this.shown.set(token, this.begin(value, cancel));
    }
    if (value.kind === "end") {
      this.shown.get(token)?.end();
      this.shown.delete(token);
      if (message !== "") {
        this.window.showResult(message);
      }
    } else if (message !== "") {
      this.shown.get(token)?.setMessage(activityInWords(message));
    }
    this.window.changed();
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
    this.listening.forEach((listener) => listener.dispose());
    this.clear();
  }

  private begin({ title = "Tark", cancellable }: ProgressValue, cancel: () => void): Work {
    const work = new Work(() => (cancellable === true ? this.window.openToast(title, cancel) : undefined), () => this.window.isChatVisible());
    if (this.waits) {
      work.pause();
    }
    return work;
  }

  private requestsChanged(): void {
    const waits = this.state.permissions.length + this.state.inputs.length > 0;
    if (waits !== this.waits) {
      this.waits = waits;
      this.shown.forEach((work) => (waits ? work.pause() : work.resume()));
    }
  }
}

/** Work gets a notification only after it has taken long enough that the user might want to cancel it. */
class Work {
  message = "";
  private isLong = false;
  private toast: Toast | undefined;
  /** Undefined: paused or ended. */
  private dueAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly open: () => Toast | undefined,
    private readonly isChatVisible: () => boolean,
  ) {
    this.resume();
  }

  setMessage(message: string): void {
    this.message = message;
    if (this.dueAt !== undefined && !this.isLong) {
      this.schedule(Math.max(this.dueAt, Date.now() + SETTLED_MS));
    }
    this.draw();
  }

  /** Call this when something waits for the user. */
  pause(): void {
    clearTimeout(this.timer);
    this.dueAt = undefined;
    this.isLong = false;
    this.draw();
  }

  /** Call this when the user has answered: the delay starts again. */
  resume(): void {
    this.schedule(Date.now() + LATER_MS);
  }

  end(): void {
    this.pause();
  }

  draw(): void {
    if (!this.isLong || this.isChatVisible() || this.message.startsWith(WAITING)) {
      this.toast?.close();
      this.toast = undefined;
    } else {
      this.toast ??= this.open();
      this.toast?.report(this.message);
    }
  }

  private schedule(dueAt: number): void {
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => {
      this.isLong = true;
      this.draw();
    }, dueAt - Date.now());
  }
}
