/** Creates the parts of the page, and passes the extension's messages to them. */

import type { Status, ToHost, ToPage, TurnHead } from "../messages";
import { AlertPart } from "./alert";
import { Announcer } from "./announce";
import { runEditingKeys } from "./editingKeys";
import { h, setText } from "./element";
import type { Kept, Page } from "./page";
import { StickyPlan } from "./plan";
import { PromptPart } from "./prompt";
import { SetupPart } from "./setupCard";
import { spokenText } from "./spokenText";
import { SessionsPart } from "./sessions";
import { FooterPart, HeaderPart } from "./status";
import { TranscriptPart } from "./transcript";
import { runAnswerKeys } from "./requestKeys";
import { RequestsPart } from "./requests";
import { endAnnouncement } from "./wording";

const KEEP_MS = 200; // scrolling causes many changes

export interface PageHost {
  post(message: ToHost): void;
  readonly kept: Kept | undefined;
  keep(kept: Kept): void;
  /** The id of the tab that shows the page. */
  readonly tab?: string | undefined;
  readonly isMac?: boolean;
}

type MessageOf<Kind extends ToPage["kind"]> = Extract<ToPage, { kind: Kind }>;
type Handlers = { [Kind in ToPage["kind"]]: (message: MessageOf<Kind>) => void };

/** Returns the handler of the extension's messages. */
export function startPage(body: HTMLElement, rim: PageHost): (message: ToPage) => void {
  const kept: Kept = { opened: {}, history: [], answers: {}, ...rim.kept };
  const spoken = h("div", { class: "unseen", role: "status", "aria-live": "polite" });
  const alert = new AlertPart();
  const announcer = new Announcer((words) => setText(spoken, words), Date.now, (does, ms) => setTimeout(does, ms));
  let keeping: ReturnType<typeof setTimeout> | undefined;
  const keepNow = (): void => {
    clearTimeout(keeping);
    keeping = undefined;
    rim.keep(kept);
  };
  const isMac = rim.isMac === true;
  const page: Page = {
    kept,
    isMac,
    keep: () => {
      keeping ??= setTimeout(keepNow, KEEP_MS);
    },
    post: (message) => rim.post(message),
    announce: (words) => announcer.announce(words),
    withdraw: (words) => announcer.withdraw(words),
  };
  runEditingKeys(body, isMac);
  addEventListener("pagehide", keepNow);
  if (rim.tab !== undefined) {
    kept.tab = rim.tab;
    keepNow();
  }

  let folders: readonly string[] = [];
  const prompt = new PromptPart(page);
  const transcript = new TranscriptPart(page, () => folders, (turn, words) => prompt.editTurn(turn, words));
  const setup = new SetupPart(page, (visible) => (transcript.element.hidden = visible));
  const waiting = new RequestsPart(page, () => folders, (words) => {
    prompt.addToHistory(words);
    handlers.say({ kind: "say", words: "This request has ended. The arrow keys recall the text you typed for it." });
  });
  runAnswerKeys(body, waiting.element, isMac);
  const header = new HeaderPart(page, () => sessions.toggle());
  const sessions = new SessionsPart(page, header.sessions);
  const footer = new FooterPart(page);
  const plan = new StickyPlan();
  body.append(
    header.element,
    sessions.element,
    h("main", {}, setup.element, transcript.element, plan.element, waiting.element, alert.element, prompt.element, spoken),
    footer.element,
  );

  const drawn = (): void => {
    setup.setChat(transcript.model.turns.length === 0, transcript.firstSending);
    prompt.setRunning(transcript.model.turns.some(({ head }) => head.state === "running"));
    plan.draw(transcript.model.turns.map(({ head }) => head));
  };
  const status = (now: Status): void => {
    folders = now.folders;
    header.draw(now);
    footer.draw(now);
  };
  const handlers: Handlers = {
    transcript: ({ transcript: view, sending }) => {
      transcript.showTranscript(view, sending);
      prompt.setSession(view.sessionId);
      drawn();
    },
    changes: ({ changes }) => {
      const before = new Map(transcript.model.turns.map(({ head }) => [head.turnId, head]));
      transcript.applyChanges(changes);
      for (const change of changes) {
        if (change.kind === "turn") {
          drawn();
          page.announce(undoWords(before.get(change.head.turnId), change.head) ?? spokenOf(change.head.turnId, transcript));
        }
      }
    },
    sending: ({ turns }) => {
      if (turns.length > 0) {
        alert.clear();
      }
      transcript.showSending(turns);
      drawn();
    },
    setup: ({ setup: view }) => setup.show(view),
    status: ({ status: now }) => status(now),
    waiting: ({ permissions, inputs }) => waiting.showRequests(permissions, inputs),
    sessions: ({ sessions: rows, all }) => sessions.showRows(rows, all),
    completion: ({ id, items }) => prompt.showCompletion(id, items),
    words: ({ words, instead }) => prompt.returnWords(words, instead),
    attachments: ({ items, warning }) => prompt.showAttachments(items, warning),
    mention: ({ text }) => prompt.insertMention(text),
    draft: ({ words }) => prompt.restoreDraft(words),
    moved: () => prompt.empty(),
    say: ({ words }) => alert.say(words),
    focus: () => prompt.focus(),
  };
  addEventListener("focus", () => rim.post({ kind: "focused" }));
  addEventListener("blur", () => rim.post({ kind: "blurred" }));
  rim.post({ kind: "ready" });
  return (message) => (handlers[message.kind] as ((message: ToPage) => void) | undefined)?.(message);
}

/** The announcement when a turn that has ended is undone or redone. */
function undoWords(before: TurnHead | undefined, now: TurnHead): string | undefined {
  if (before?.state !== "ended" || before.undone === now.undone) {
    return undefined;
  }
  return now.undone === undefined ? "The turn is redone" : "The turn is undone";
}

/** The announcement when a turn starts or ends. */
function spokenOf(turnId: string, transcript: TranscriptPart): string {
  const turn = transcript.model.turns.find(({ head }) => head.turnId === turnId);
  if (turn?.head.state !== "ended") {
    return turn?.head.waits === true ? "The prompt is queued" : "Tark is working";
  }
  const said = turn.blocks.findLast((block) => block.kind === "text");
  const words = said !== undefined && "text" in said ? spokenText(said.text) : "";
  return endAnnouncement(turn.head, words);
}
