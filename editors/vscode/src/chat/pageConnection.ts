/** Posts messages to the page. Messages that must not be lost wait until the page is open. Pure. */

import type { ToPage } from "./messages";

export interface PageReceiver {
  postMessage(message: ToPage): PromiseLike<boolean>;
}

export class PageConnection {
  private page: PageReceiver | undefined;
  private readonly waiting: ToPage[] = [];
  private readonly onOpen: (() => void)[] = [];

  get isOpen(): boolean {
    return this.page !== undefined;
  }

  /** Call this when the page is ready, then `postKept`, which posts the messages that wait. */
  open(page: PageReceiver): void {
    this.page = page;
    this.onOpen.splice(0).forEach((resolve) => resolve());
  }

  /** Resolves when the page is ready, or after this time. */
  async opened(limitMs: number): Promise<void> {
    if (!this.isOpen) {
      await new Promise<void>((resolve) => {
        this.onOpen.push(resolve);
        setTimeout(resolve, limitMs);
      });
    }
  }

  /** Call this when the page was hidden. VS Code creates it again when it is shown. */
  close(): void {
    this.page = undefined;
  }

  post(message: ToPage): void {
    void this.page?.postMessage(message);
  }

  /** Posts the message now, or when the page opens. */
  postWhenOpen(message: ToPage): void {
    if (this.isOpen) {
      this.post(message);
    } else {
      this.waiting.push(message);
    }
  }

  postKept(): void {
    for (const message of this.waiting.splice(0)) {
      this.post(message);
    }
  }
}
