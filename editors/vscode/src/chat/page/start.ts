/** The parts of the page in their order, and which of them hears of what the extension tells. */

import type { Status, ToHost, ToPage } from "../messages";
import { Announcer } from "./announce";
import { h, say } from "./element";
import type { Kept, Page } from "./page";
import { PromptPart } from "./prompt";
import { oneLine } from "./prose";
import { SessionsPart } from "./sessions";
import { FooterPart, HeaderPart } from "./status";
import { TranscriptPart } from "./transcript";
import { WaitingPart } from "./waiting";

const KEEP_MS = 200; // a long answer is scrolled through with many events
const SPOKEN = 300; // characters of an answer that are read aloud at its end
const SAID_MS = 10_000;

export interface Rim {
  post(message: ToHost): void;
  readonly kept: Kept | undefined;
  keep(kept: Kept): void;
}

type Told<Kind extends ToPage["kind"]> = Extract<ToPage, { kind: Kind }>;
type Handlers = { [Kind in ToPage["kind"]]: (message: Told<Kind>) => void };

/** What is returned hears of each message of the extension. */
export function startPage(body: HTMLElement, rim: Rim): (message: ToPage) => void {
  const kept: Kept = { prompt: "", opened: {}, history: [], answers: {}, ...rim.kept };
  const spoken = h("div", { class: "unseen", role: "status", "aria-live": "polite" });
  const told = h("div", { class: "told", role: "alert" });
  const announcer = new Announcer((words) => say(spoken, words), Date.now, (does, ms) => setTimeout(does, ms));
  let keeping: ReturnType<typeof setTimeout> | undefined;
  const keepNow = (): void => {
    clearTimeout(keeping);
    keeping = undefined;
    rim.keep(kept);
  };
  const page: Page = {
    kept,
    keep: (now) => {
      if (now === true) {
        keepNow();
      } else {
        keeping ??= setTimeout(keepNow, KEEP_MS);
      }
    },
    tell: (message) => rim.post(message),
    announce: (words) => announcer.announce(words),
  };
  addEventListener("pagehide", keepNow);

  let folders: readonly string[] = [];
  const prompt = new PromptPart(page);
  const transcript = new TranscriptPart(page, () => folders, (turn, words) => prompt.edit(turn, words));
  const waiting = new WaitingPart(page, () => folders, (words) => {
    prompt.remember(words);
    handlers.say({ kind: "say", words: "That does not wait any more. What you typed for it comes back with the arrow keys." });
  });
  const header = new HeaderPart(page, () => sessions.toggle());
  const sessions = new SessionsPart(page, header.sessions);
  const footer = new FooterPart(page);
  body.append(
    header.element,
    sessions.element,
    h("main", {}, transcript.element, waiting.element, told, prompt.element, spoken),
    footer.element,
  );

  const drawn = (): void => {
    prompt.runs(transcript.model.turns.some(({ head }) => head.state === "running"));
  };
  const status = (now: Status): void => {
    folders = now.folders;
    header.draw(now);
    footer.draw(now);
  };
  let forgetting: ReturnType<typeof setTimeout> | undefined;
  const handlers: Handlers = {
    transcript: ({ transcript: view, sending }) => {
      transcript.show(view, sending);
      prompt.shows(view.sessionId);
      drawn();
    },
    changes: ({ changes }) => {
      transcript.apply(changes);
      for (const change of changes) {
        if (change.kind === "turn") {
          drawn();
          const words = spokenOf(change.head.turnId, transcript);
          page.announce(words);
        }
      }
    },
    sending: ({ turns }) => transcript.showSending(turns),
    status: ({ status: now }) => status(now),
    waiting: ({ permissions, inputs }) => waiting.show(permissions, inputs),
    sessions: ({ sessions: rows, all }) => sessions.show(rows, all),
    completion: ({ id, items }) => prompt.complete(id, items),
    words: ({ words, instead }) => prompt.giveBack(words, instead),
    draft: ({ words }) => prompt.draft(words),
    say: ({ words }) => {
      say(told, oneLine(words));
      clearTimeout(forgetting);
      forgetting = setTimeout(() => say(told, ""), SAID_MS);
    },
    focus: () => prompt.focus(),
  };
  rim.post({ kind: "ready" });
  return (message) => (handlers[message.kind] as ((told: ToPage) => void) | undefined)?.(message);
}

/** What is read aloud when a turn begins or ends. */
function spokenOf(turnId: string, transcript: TranscriptPart): string {
  const turn = transcript.model.turns.find(({ head }) => head.turnId === turnId);
  if (turn?.head.state !== "ended") {
    return turn?.head.waits === true ? "The prompt waits for the turn before it" : "Tark is at work";
  }
  const said = turn.blocks.findLast((block) => block.kind === "text");
  const words = said !== undefined && "text" in said ? oneLine(said.text).slice(0, SPOKEN) : "";
  return turn.head.error === undefined ? `Tark is done. ${words}` : `Tark stopped: ${oneLine(turn.head.error.message)}`;
}
