/** The prompt box. Typed text is never lost. Earlier prompts can be recalled, edited and sent again. */

import { SLASH_COMMANDS, type AttachmentRow, type CompletionRow, type ReplacedTurn, type SlashCommand } from "../messages";
import { AttachmentsPart } from "./attachments";
import { CompletionList } from "./completion";
import { button, h, setText } from "./element";
import type { Page } from "./page";

const MOST_HISTORY = 50;
const MOST_LINES = 12;
const PADDING = 16; // pixels: left and right padding of the field

export class PromptPart {
  readonly element: HTMLElement;
  private readonly field = h("textarea", { rows: 2, id: "prompt", "aria-label": "Prompt", placeholder: "Ask Tark · @ to mention · / for prompts and commands" });
  private readonly completion: CompletionList;
  private readonly attachments: AttachmentsPart;
  private readonly edits: HTMLElement;
  private readonly sendButton: HTMLButtonElement;
  private readonly steerButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly buttons: HTMLElement;
  private at: number | undefined; // index of the shown history entry
  private running = false;
  private sessionId: string | undefined; // of the visible session

  constructor(private readonly page: Page) {
    this.completion = new CompletionList(page, this.field, ({ runs }) => {
      this.changed();
      if (runs !== undefined) {
        this.run(runs);
      }
    });
    this.attachments = new AttachmentsPart(page, () => this.focus());
    this.edits = h(
      "p",
      { class: "edits", hidden: true },
      "Editing an earlier prompt. It is sent in a new session. ",
      button("Cancel", () => this.noEdit()),
    );
    this.sendButton = button("Send", () => this.send(), { class: "main" });
    this.steerButton = button("Send Now", () => this.steer(), { title: "Send to the running turn, after its next results (Ctrl+Enter)", hidden: true });
    this.stopButton = button("Stop", () => page.post({ kind: "cancel" }), { title: "Cancel the running turn and the queued ones", hidden: true });
    this.buttons = h("div", { class: "buttons" }, this.attachments.attachButton, h("span", { class: "gap" }), this.stopButton, this.steerButton, this.sendButton);
    const { element: chips, warning, dropArea } = this.attachments;
    const box = h("div", { class: "box" }, chips, this.field, this.buttons, dropArea);
    this.element = h("div", { class: "prompt-part" }, this.edits, warning, this.completion.element, box);
    this.field.addEventListener("input", () => {
      this.changed();
      this.completion.requestCompletion();
    });
    this.field.addEventListener("keydown", (event) => this.handleKey(event));
    this.field.addEventListener("paste", (event) => this.attachments.paste(event));
    this.field.addEventListener("blur", () => this.completion.close());
    this.draw();
  }

  focus(): void {
    this.field.focus();
  }

  showCompletion(id: number, rows: readonly CompletionRow[]): void {
    this.completion.showRows(id, rows);
  }

  showAttachments(items: readonly AttachmentRow[], warning: string): void {
    this.attachments.show(items, warning);
  }

  insertMention(text: string): void {
    const { selectionStart: start, selectionEnd: end, value } = this.field;
    const before = start === 0 || /\s$/.test(value.slice(0, start)) ? "" : " ";
    this.field.setRangeText(`${before}${text} `, start, end, "end");
    this.changed();
    this.focus();
  }

  /** While a turn runs, prompts are queued or sent to it. */
  setRunning(running: boolean): void {
    if (running !== this.running) {
      this.running = running;
      this.draw();
    }
  }

  /** The text that the extension kept. What was typed before it arrived continues it. */
  restoreDraft(words: string): void {
    if (words !== "" && !this.field.value.startsWith(words)) {
      this.set(words + this.field.value);
    }
  }

  empty(): void {
    this.set("");
  }

  /** Edits an earlier prompt. The previous text can be recalled with the arrow keys. */
  editTurn(turn: Omit<ReplacedTurn, "sessionId">, words: string): void {
    if (this.sessionId === undefined) {
      return;
    }
    this.addToHistory(this.field.value);
    this.page.kept.instead = { ...turn, sessionId: this.sessionId };
    this.set(words);
    this.focus();
  }

  /** Puts a prompt that was not accepted above the text typed since. */
  returnWords(words: string, instead: ReplacedTurn | undefined): void {
    if (instead !== undefined) {
      this.page.kept.instead = instead;
    }
    this.set(this.field.value.trim() === "" ? words : `${words}\n\n${this.field.value}`);
  }

  /** An edit belongs to its session. In another session, the text is an ordinary prompt. */
  setSession(sessionId: string | undefined): void {
    this.sessionId = sessionId;
    this.draw();
  }

  private get instead(): ReplacedTurn | undefined {
    const { instead } = this.page.kept;
    return instead?.sessionId === this.sessionId ? instead : undefined;
  }

  private send(): void {
    const words = this.field.value.trim();
    const command = words.slice(1);
    if (words.startsWith("/") && Object.hasOwn(SLASH_COMMANDS, command)) {
      this.run(command as SlashCommand);
    } else if (words !== "") {
      const { instead } = this;
      this.page.post({ kind: "send", words, ...(instead !== undefined && { instead }) });
      this.sent(words);
    }
  }

  private run(command: SlashCommand): void {
    this.set("");
    this.page.post({ kind: "run", what: command });
  }

  /** Attachments cannot be sent to a running turn, so a prompt with attachments is queued. */
  private steer(): void {
    const words = this.field.value.trim();
    if (!this.running || this.attachments.hasFiles || this.instead !== undefined) {
      this.send();
    } else if (words !== "") {
      this.page.post({ kind: "steer", words });
      this.sent(words);
    }
  }

  private sent(words: string): void {
    this.addToHistory(words);
    delete this.page.kept.instead;
    this.completion.close(); // an answer that comes later is about the sent text
    this.set("");
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.isComposing) {
      return; // Enter ends the composition of an input method
    }
    const plain = !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey);
    if (this.completion.handleKey(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (plain) {
        this.send();
      } else {
        this.steer();
      }
    } else if (plain && (event.key === "ArrowUp" || event.key === "ArrowDown") && (this.at !== undefined || isAtFirstLine(this.field))) {
      if (this.recall(event.key === "ArrowUp" ? -1 : 1)) {
        event.preventDefault();
      }
    }
  }

  private recall(step: number): boolean {
    if (this.at === undefined) {
      this.addToHistory(this.field.value); // so that the text is not lost
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

  /** Adds a text to the history, which the arrow keys recall. */
  addToHistory(words: string): void {
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
    this.at = undefined;
    const words = this.field.value;
    if (words.trim() === "") {
      delete this.page.kept.instead; // an empty prompt ends the edit
    }
    this.page.keep();
    this.page.post({ kind: "draft", words });
    this.draw();
  }

  private draw(): void {
    const isEdit = this.instead !== undefined;
    this.edits.hidden = !isEdit;
    this.stopButton.hidden = !this.running;
    this.steerButton.hidden = !this.running || isEdit;
    setText(this.sendButton, this.running && !isEdit ? "Queue" : "Send");
    this.field.rows = Math.min(MOST_LINES, Math.max(2, this.field.value.split("\n").length));
  }
}

/** Is the cursor in the first line on screen? A long line wraps to several. */
function isAtFirstLine(field: HTMLTextAreaElement): boolean {
  const before = field.value.slice(0, field.selectionStart);
  if (field.selectionStart !== field.selectionEnd || before.includes("\n")) {
    return false;
  }
  const canvas = before === "" ? null : document.createElement("canvas").getContext("2d");
  if (canvas === null) {
    return true;
  }
  canvas.font = getComputedStyle(field).font;
  return canvas.measureText(before).width < field.clientWidth - PADDING;
}
