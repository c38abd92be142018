/** Announces messages to screen readers: one at a time, with pauses. The last message is always announced. */

const PAUSE_MS = 2000;

export class Announcer {
  private next: string | undefined;
  private last = "";
  private quietUntil = 0;
  private waits = false;

  constructor(
    private readonly speak: (words: string) => void,
    private readonly now: () => number,
    private readonly later: (does: () => void, ms: number) => void,
  ) {}

  announce(words: string): void {
    this.next = words;
    const ms = this.quietUntil - this.now();
    if (ms <= 0) {
      this.say();
    } else if (!this.waits) {
      this.waits = true;
      this.later(() => {
        this.waits = false;
        this.say();
      }, ms);
    }
  }

  /** Call this when the message is no longer true: it is not announced, and a screen reader does not find it. */
  withdraw(words: string): void {
    if (this.next === words) {
      this.next = undefined;
    }
    if (this.last === words) {
      this.last = "";
      this.speak("");
    }
  }

  private say(): void {
    if (this.next !== undefined) {
      this.last = this.next;
      this.speak(this.next);
      this.next = undefined;
      this.quietUntil = this.now() + PAUSE_MS;
    }
  }
}
