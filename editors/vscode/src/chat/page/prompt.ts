/** The prompt: what was typed is never lost, earlier prompts come back, and an earlier one can be edited and sent again. */

import type { CompletionRow, Instead } from "../messages";
import { CompletionList } from "./completion";
import { button, h, say } from "./element";
import type { Page } from "./page";

const MOST_HISTORY = 50;
const MOST_LINES = 12;

export class PromptPart {
  readonly element: HTMLElement;
  private readonly field = h("textarea", { rows: 2, id: "prompt", "aria-label": "Prompt", placeholder: "Say what to do · @ mentions · / prompts" });
  private readonly completion: CompletionList;
  private readonly edits: HTMLElement;
  private readonly sendButton: HTMLButtonElement;
  private readonly steerButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly buttons: HTMLElement;
  private at: number | undefined; // of the history that is shown
  private running = false;
  private sessionId: string | undefined; // that is shown

  constructor(private readonly page: Page) {
    this.completion = new CompletionList(page, this.field, () => this.changed());
    this.edits = h(
      "p",
      { class: "edits", hidden: true },
      "In place of an earlier prompt, in a new session ",
      button("Do not", () => this.noEdit()),
    );
    this.sendButton = button("Send", () => this.send(), { class: "main" });
    this.steerButton = button("Say it now", () => this.steer(), { title: "To the turn that runs, after its next results (Ctrl+Enter)", hidden: true });
    this.stopButton = button("Stop", () => page.tell({ kind: "cancel" }), { title: "Cancel the turn that runs, and those that wait for it", hidden: true });
    this.buttons = h("div", { class: "buttons" }, this.stopButton, this.steerButton, this.sendButton);
    this.element = h("div", { class: "prompt-part" }, this.edits, this.completion.element, h("div", { class: "box" }, this.field, this.buttons));
    this.field.value = page.kept.prompt;
    this.field.addEventListener("input", () => {
      this.changed();
      this.completion.ask();
    });
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.field.addEventListener("blur", () => this.completion.close());
    this.draw();
  }

  focus(): void {
    this.field.focus();
  }

  complete(id: number, rows: readonly CompletionRow[]): void {
    this.completion.show(id, rows);
  }

  /** There is a turn that runs: what is sent waits for it, or is said to it. */
  runs(running: boolean): void {
    if (running !== this.running) {
      this.running = running;
      this.draw();
    }
  }

  /** What the extension kept, where the page has nothing. */
  draft(words: string): void {
    if (this.field.value === "" && words !== "") {
      this.set(words);
    }
  }

  /** An earlier prompt, to be sent in its place. What was typed comes back with the arrow keys. */
  edit(turn: Omit<Instead, "sessionId">, words: string): void {
    if (this.sessionId === undefined) {
      return;
    }
    this.remember(this.field.value);
    this.page.kept.instead = { ...turn, sessionId: this.sessionId };
    this.set(words);
    this.focus();
  }

  /** What was on its way and was not taken, above what has been typed since. */
  giveBack(words: string, instead: Instead | undefined): void {
    if (instead !== undefined) {
      this.page.kept.instead = instead;
    }
    this.set(this.field.value.trim() === "" ? words : `${words}\n\n${this.field.value}`);
  }

  /** An edit is of its session: in another one, the words are a prompt like any other. */
  shows(sessionId: string | undefined): void {
    this.sessionId = sessionId;
    this.draw();
  }

  private get instead(): Instead | undefined {
    const { instead } = this.page.kept;
    return instead?.sessionId === this.sessionId ? instead : undefined;
  }

  private send(): void {
    const words = this.field.value.trim();
    if (words !== "") {
      const { instead } = this;
      this.page.tell({ kind: "send", words, ...(instead !== undefined && { instead }) });
      this.sent(words);
    }
  }

  private steer(): void {
    const words = this.field.value.trim();
    if (!this.running || this.instead !== undefined) {
      this.send();
    } else if (words !== "") {
      this.page.tell({ kind: "steer", words });
      this.sent(words);
    }
  }

  private sent(words: string): void {
    this.remember(words);
    delete this.page.kept.instead;
    this.set("");
  }

  private pressed(event: KeyboardEvent): void {
    if (event.isComposing) {
      return; // Enter ends the word of an input method
    }
    const plain = !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey);
    if (this.completion.pressed(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (plain) {
        this.send();
      } else {
        this.steer();
      }
    } else if (plain && (event.key === "ArrowUp" || event.key === "ArrowDown") && (this.at !== undefined || this.field.selectionEnd === 0)) {
      if (this.recall(event.key === "ArrowUp" ? -1 : 1)) {
        event.preventDefault();
      }
    }
  }

  private recall(step: number): boolean {
    if (this.at === undefined) {
      this.remember(this.field.value); // so that nothing is lost, whatever is typed over it
    }
    const { history } = this.page.kept;
    const from = this.at ?? (this.field.value.trim() === "" ? history.length : history.length - 1);
    const wanted = from + step;
    if (wanted < 0 || wanted > history.length) {
      return false;
    }
    this.set(history[wanted] ?? "");
    this.at = wanted;
    return true;
  }

  /** It comes back with the arrow keys. */
  remember(words: string): void {
    const { kept } = this.page;
    if (words.trim() !== "" && kept.history.at(-1) !== words) {
      kept.history = [...kept.history, words].slice(-MOST_HISTORY);
    }
  }

  private noEdit(): void {
    delete this.page.kept.instead;
    this.changed();
    this.focus();
  }

  private set(words: string): void {
    this.field.value = words;
    this.field.setSelectionRange(words.length, words.length);
    this.changed();
  }

  private changed(): void {
    const { kept } = this.page;
    this.at = undefined;
    kept.prompt = this.field.value;
    if (kept.prompt.trim() === "") {
      delete kept.instead; // who empties the prompt gives that up
    }
    this.page.keep(kept.prompt === "");
    this.page.tell({ kind: "draft", words: kept.prompt });
    this.draw();
  }

  private draw(): void {
    const isEdit = this.instead !== undefined;
    this.edits.hidden = !isEdit;
    this.stopButton.hidden = !this.running;
    this.steerButton.hidden = !this.running || isEdit;
    say(this.sendButton, this.running && !isEdit ? "Queue" : "Send");
    this.field.rows = Math.min(MOST_LINES, Math.max(2, this.field.value.split("\n").length));
  }
}
