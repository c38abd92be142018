/** The line to the page: what must not get lost waits until there is a page to hear it. Pure. */

import type { ToPage } from "./messages";

export interface Listener {
  postMessage(message: ToPage): PromiseLike<boolean>;
}

export class Line {
  private page: Listener | undefined;
  private readonly kept: ToPage[] = [];

  get isOpen(): boolean {
    return this.page !== undefined;
  }

  /** The page said that it listens. `tellKept` then tells what waited for it. */
  open(page: Listener): void {
    this.page = page;
  }

  /** It is made anew when it is shown again. */
  close(): void {
    this.page = undefined;
  }

  tell(message: ToPage): void {
    void this.page?.postMessage(message);
  }

  /** Now, or when there is a page. */
  tellSurely(message: ToPage): void {
    if (this.isOpen) {
      this.tell(message);
    } else {
      this.kept.push(message);
    }
  }

  tellKept(): void {
    for (const message of this.kept.splice(0)) {
      this.tell(message);
    }
  }
}
