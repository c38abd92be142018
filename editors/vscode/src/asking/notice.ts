/**
 * A notification that goes as soon as nobody asks any more. VS Code's own messages cannot be closed, so they would stay
 * with their buttons after the answer was given elsewhere; a progress can, and what it says can be told anew.
 */

import * as vscode from "vscode";

/** A click that was meant for what stood there before decides nothing. */
const STILL_MS = 500;
const COMMAND = "tark.client.notice";

export interface Link {
  readonly title: string;
  readonly run: () => unknown;
}

/** `text` is for who says it to be without links of others (text/visible.ts). */
export interface Said {
  readonly text: string;
  readonly links: readonly Link[];
}

export class Notice implements vscode.Disposable {
  private static readonly shown = new Map<string, Notice>();
  private static made = 0;

  /** The command that links run. */
  static register(): vscode.Disposable {
    return vscode.commands.registerCommand(COMMAND, (id: string, index: number) => Notice.shown.get(id)?.follow(index));
  }

  private readonly id = String((Notice.made += 1));
  private links: readonly Link[] = [];
  private since = 0;
  private report: (message: string) => void = () => undefined;
  private close: () => void = () => undefined;

  /** Its one button closes it, too. */
  constructor(said: Said, button: Link) {
    const closed = new Promise<void>((resolve) => (this.close = resolve));
    // VS Code names the button by a word that it finds here, though its types know only whether there is one.
    const cancellable = button.title as unknown as boolean;
    Notice.shown.set(this.id, this);
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable }, (progress, pressed) => {
      this.report = (message) => progress.report({ message });
      pressed.onCancellationRequested(() => {
        this.dispose();
        button.run();
      });
      this.tell(said);
      return closed;
    });
  }

  /** In place of what it said. */
  tell({ text, links }: Said): void {
    this.links = links;
    this.since = Date.now();
    const words = links.map(({ title }, index) => {
      return `[${title}](command:${COMMAND}?${encodeURIComponent(JSON.stringify([this.id, index]))})`;
    });
    this.report(`${text} — ${words.join(" · ")}`);
  }

  dispose(): void {
    Notice.shown.delete(this.id);
    this.close();
  }

  private follow(index: number): void {
    if (Date.now() - this.since >= STILL_MS) {
      this.links[index]?.run();
    }
  }
}
