/**
 * The transcript on the page. It redraws only what changed, at most once per frame.
 *
 * If it is scrolled to the end, it follows the end; otherwise the scroll position stays. Turns that are not visible
 * cost nothing (css/transcript.css).
 */

import type { TranscriptChange, TranscriptView, TurnHead } from "../messages";
import { button, h } from "./element";
import { TranscriptModel, type TurnModel } from "./model";
import type { Page } from "./page";
import { TurnView, type Edit } from "./turn";

const AT_END = 40; // pixels from the end that count as the end
const MOST_TURNS = 80; // the most turns while it follows the end
const CALLS_MS = 1000; // the interval for redrawing the time of running calls

export class TranscriptPart {
  readonly element = h("section", { class: "transcript", role: "log", "aria-live": "off", "aria-label": "Conversation", tabindex: 0 });
  readonly model = new TranscriptModel();
  private readonly earlier: HTMLElement;
  private readonly empty = h("p", { class: "empty faint" }, "Ask about this workspace, or describe a task. Nothing is sent until you press Send.");
  private readonly turns = h("div", { class: "turns" });
  private readonly sending = h("div", { class: "sending" });
  private readonly toEnd = button("↓ Scroll to End", () => this.followEnd(), { class: "to-end", hidden: true });
  private readonly views = new Map<TurnModel, TurnView>();
  /** Content that is drawn late or opened, or a narrower view. */
  private readonly resized = new ResizeObserver(() => this.stayAtEnd());
  firstSending = ""; // the first prompt that the server has not accepted yet
  private due = false;
  private follows = true;
  private top = 0; // the last scroll position
  private cutting = false; // fewer turns were asked for

  constructor(
    private readonly page: Page,
    private readonly folders: () => readonly string[],
    private readonly edit: Edit,
  ) {
    this.earlier = button("Show Earlier Messages", () => page.post({ kind: "earlier" }), { class: "earlier", hidden: true });
    this.element.append(this.earlier, this.empty, this.turns, this.sending, this.toEnd);
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.resized.observe(this.turns);
    this.resized.observe(this.element);
    setInterval(() => this.tick(), CALLS_MS);
  }

  showTranscript(view: TranscriptView, sending: readonly TurnHead[]): void {
    this.model.replaceAll(view);
    this.views.clear();
    this.turns.replaceChildren(...this.model.turns.map((turn) => this.newView(turn).element));
    this.earlier.hidden = !view.earlier;
    this.cutting = false;
    this.showSending(sending);
    this.goOnReading();
    this.resized.observe(this.turns); // again: it reports the real height of new turns even if the old ones were as high
  }

  applyChanges(changes: readonly TranscriptChange[]): void {
    this.model.applyChanges(changes);
    if (!this.due) {
      this.due = true;
      requestAnimationFrame(() => this.draw());
    }
  }

  /** Shows prompts that the server has not accepted yet. */
  showSending(heads: readonly TurnHead[]): void {
    const views = heads.map((head) => new TurnView(this.page, { head, blocks: [] }, this.folders, this.edit).element);
    this.firstSending = heads[0]?.prompt ?? "";
    this.sending.replaceChildren(...views);
    this.empty.hidden = this.model.turns.length + heads.length > 0;
    if (heads.length > 0) {
      this.followEnd();
    }
  }

  followEnd(): void {
    this.follows = true;
    this.toEnd.hidden = true;
    this.stayAtEnd();
  }

  private stayAtEnd(): void {
    if (this.follows) {
      this.element.scrollTop = this.element.scrollHeight;
      this.top = this.element.scrollTop;
    }
  }

  /** Restores the scroll position after earlier turns were added, or the page was loaded again. */
  private goOnReading(): void {
    const { reading } = this.page.kept;
    const turn = this.model.turns.find(({ head }) => head.turnId === reading?.turnId);
    if (reading === undefined || turn === undefined) {
      this.followEnd();
      return;
    }
    const { element } = this.views.get(turn)!;
    element.classList.add("measured");
    this.follows = false;
    this.toEnd.hidden = false;
    this.element.scrollTop = element.offsetTop + reading.offset;
    this.top = this.element.scrollTop;
    requestAnimationFrame(() => element.classList.remove("measured"));
  }

  private draw(): void {
    this.due = false;
    for (const [turn, stale] of this.model.takeStale()) {
      const view = this.views.get(turn);
      if (view === undefined) {
        this.turns.append(this.newView(turn).element);
      } else {
        view.draw(stale);
      }
    }
    this.empty.hidden = this.model.turns.length > 0;
    this.stayAtEnd();
    if (this.follows && !this.cutting && this.model.turns.length > MOST_TURNS) {
      this.cutting = true;
      this.page.post({ kind: "fewer" });
    }
  }

  private newView(turn: TurnModel): TurnView {
    const view = new TurnView(this.page, turn, this.folders, this.edit);
    this.views.set(turn, view);
    return view;
  }

  private scrolled(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    if (scrollHeight - scrollTop - clientHeight < AT_END) {
      this.follows = true;
    } else if (scrollTop < this.top) {
      this.follows = false; // it also moves down when content above grows
    }
    this.top = scrollTop;
    this.toEnd.hidden = this.follows;
    this.keepPlace();
  }

  private keepPlace(): void {
    const { kept } = this.page;
    if (this.follows) {
      if (kept.reading === undefined || this.views.size === 0) {
        return;
      }
      delete kept.reading;
    } else {
      const reads = [...this.views].find(([, { element }]) => element.offsetTop + element.offsetHeight > this.top);
      if (reads === undefined) {
        return;
      }
      kept.reading = { turnId: reads[0].head.turnId, offset: this.top - reads[1].element.offsetTop };
    }
    this.page.keep();
  }

  /** Redraws the time of running calls. */
  private tick(): void {
    const turn = this.model.turns.findLast(({ head }) => head.state === "running");
    const running = turn?.blocks.flatMap((block, index) => (block.kind === "toolCall" && block.since !== undefined ? [index] : []));
    if (turn !== undefined && running !== undefined && running.length > 0) {
      this.views.get(turn)?.draw(new Set(running));
    }
  }
}
