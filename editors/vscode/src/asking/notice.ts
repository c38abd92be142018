/**
 * A notification that the extension can close and update. VS Code's messages cannot be closed, so their buttons would
 * stay after the answer was given elsewhere. A progress notification can be closed, and its text can change.
 */

import * as vscode from "vscode";
import { notificationText } from "../text/surfaces";

/** A click within this time was meant for what was there before, so it is ignored. */
const CLICK_DELAY_MS = 500;
const COMMAND = "tark.client.notice";

export interface Link {
  readonly title: string;
  readonly run: () => unknown;
  /** The link only shows something, so an early click is not ignored. */
  readonly onlyShows?: boolean;
}

export interface NoticeContent {
  readonly text: string;
  readonly links: readonly Link[];
}

export class Notice implements vscode.Disposable {
  private static readonly shown = new Map<string, Notice>();
  private static made = 0;

  /** Registers the command that links run. */
  static register(): vscode.Disposable {
    return vscode.commands.registerCommand(COMMAND, (id: string, index: number) => Notice.shown.get(id)?.follow(index));
  }

  private readonly id = String((Notice.made += 1));
  private since = 0;
  private report: (message: string) => void = () => undefined;
  private close: () => void = () => undefined;

  /** The button also closes the notification. */
  constructor(
    private said: NoticeContent,
    private readonly button: Link,
  ) {
    Notice.shown.set(this.id, this);
    this.open();
  }

  /** Replaces the text and the links. */
  setContent(said: NoticeContent): void {
    this.said = said;
    this.since = Date.now();
    const { text, links } = said;
    const words = links.map(({ title }, index) => {
      return `[${title}](command:${COMMAND}?${encodeURIComponent(JSON.stringify([this.id, index]))})`;
    });
    this.report(`${notificationText(text)} — ${words.join(" · ")}`);
  }

  dispose(): void {
    Notice.shown.delete(this.id);
    this.close();
  }

  private open(): void {
    const closed = new Promise<void>((resolve) => (this.close = resolve));
    // VS Code uses a string here as the title of the button, although its types allow only a boolean.
    const cancellable = this.button.title as unknown as boolean;
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable }, (progress, pressed) => {
      this.report = (message) => progress.report({ message });
      pressed.onCancellationRequested(() => this.pressed());
      this.setContent(this.said);
      return closed;
    });
  }

  private pressed(): void {
    if (this.button.onlyShows !== true && this.isTooSoon()) {
      this.close();
      this.open(); // VS Code closes it after any press
    } else {
      this.dispose();
      this.button.run();
    }
  }

  private follow(index: number): void {
    if (!this.isTooSoon()) {
      this.said.links[index]?.run();
    }
  }

  private isTooSoon(): boolean {
    return Date.now() - this.since < CLICK_DELAY_MS;
  }
}
