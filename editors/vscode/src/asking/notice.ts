/**
 * A notification that the extension can close and update. VS Code's messages cannot be closed, so their buttons would
 * stay after the answer was given elsewhere. A progress notification can be closed, and its text can change.
 */

import * as vscode from "vscode";
import { notificationText } from "../text/surfaces";

/** A click this soon was meant for what was there before, so it is ignored. */
const CLICK_DELAY_MS = 500;
const COMMAND = "tark.client.notice";

export interface Link {
  readonly title: string;
  readonly run: () => unknown;
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
  private links: readonly Link[] = [];
  private since = 0;
  private report: (message: string) => void = () => undefined;
  private close: () => void = () => undefined;

  /** The button also closes the notification. */
  constructor(said: NoticeContent, button: Link) {
    const closed = new Promise<void>((resolve) => (this.close = resolve));
    // VS Code uses a string here as the title of the button, although its types allow only a boolean.
    const cancellable = button.title as unknown as boolean;
    Notice.shown.set(this.id, this);
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable }, (progress, pressed) => {
      this.report = (message) => progress.report({ message });
      pressed.onCancellationRequested(() => {
        this.dispose();
        button.run();
      });
      this.setContent(said);
      return closed;
    });
  }

  /** Replaces the text and the links. */
  setContent({ text, links }: NoticeContent): void {
    this.links = links;
    this.since = Date.now();
    const words = links.map(({ title }, index) => {
      return `[${title}](command:${COMMAND}?${encodeURIComponent(JSON.stringify([this.id, index]))})`;
    });
    this.report(`${notificationText(text)} — ${words.join(" · ")}`);
  }

  dispose(): void {
    Notice.shown.delete(this.id);
    this.close();
  }

  private follow(index: number): void {
    if (Date.now() - this.since >= CLICK_DELAY_MS) {
      this.links[index]?.run();
    }
  }
}
