/** Starts turns, with their prompt, editor context and session. A prompt is never lost. */

import * as vscode from "vscode";
import { askForPrompt } from "../window/promptBox";
import type { Drafts } from "../window/drafts";
import type { InlineBox } from "../window/inlineBox";
import { plainLine } from "../text/surfaces";
import { errorMessage, showInfo } from "../window/notify";
import { type EditorContext, activeEditorContext, protocolRange, wholeLines } from "./editorContext";
import type { StartedTurn } from "../model/protocol";
import type { Place } from "../model/place";
import type { RunningTurns } from "../model/runningTurns";
import type { Server } from "../model/server";
import type { Sessions } from "../model/sessions";
import type { Updates } from "../model/updates";
import { type TurnStart, TurnStarts } from "./starts";

/** The kinds that ask for a prompt: the title and the placeholder of the input box. */
const ASKS: ReadonlyMap<string, readonly [title: string, example: string]> = new Map([
  ["agent", ["Run Agent", "What should Tark do? It can read, search, edit and run commands"]],
  ["ask", ["Ask", "What do you want to know?"]],
  ["edit", ["Edit", "How should these lines change? Other lines stay as they are"]],
]);

interface Visit {
  readonly place: Place;
  readonly visit: number;
}

export class Turns {
  readonly starts = new TurnStarts();
  private last: Promise<unknown> = Promise.resolve();

  /**
   * @param drafts by kind: the last prompt that the server has not accepted
   * @param inline asks for the prompt of an edit, at its lines
   * @param onStarted a turn of that kind was started in the editor, so the chat can be shown
   */
  constructor(
    private readonly server: Server,
    private readonly updates: Updates,
    private readonly sessions: Sessions,
    private readonly running: RunningTurns,
    private readonly drafts: Drafts,
    private readonly inline: InlineBox,
    private readonly onStarted: (kind: string) => void,
  ) {}

  /**
   * Sends a prompt to the given session, or to the session of the place. Rejects with a message for the user. Prompts are sent
   * one after the other, so that the second of two quick ones continues the session that the first one starts.
   */
  sendPrompt(start: TurnStart, place = this.server.state.place): Promise<StartedTurn> {
    const sent = this.last.then(() => this.sendNow(start, place));
    this.last = sent.catch(() => undefined);
    return sent;
  }

  /**
   * Call this when the server accepted a turn. Shows the turn at once, and its session in the chat at `place`. `visit`: the
   * visit of the place when the prompt was sent. `kind` is set if the turn was started in the editor.
   */
  turnAccepted({ place, visit }: Visit, sessionId: string | undefined, answer: StartedTurn, prompt: string, kind?: string): void {
    this.updates.addQueuedTurn(answer, prompt);
    this.running.addTurn(answer);
    if (sessionId === undefined) {
      this.sessions.markComplete(answer.sessionId);
    }
    this.server.state.followPrompt(place, visit, sessionId, answer.sessionId);
    if (kind !== undefined) {
      this.onStarted(kind);
    }
  }

  /** Starts a turn about the selection in the editor. Asks for a prompt if the kind needs one. */
  async startFromEditor(kind: string, place: EditorContext = activeEditorContext()): Promise<void> {
    checkContext(kind, place);
    place = kind === "edit" ? wholeLines(place) : place;
    const prompt = await this.promptFor(kind, place);
    if (prompt === undefined) {
      return;
    }
    try {
      const answer = await this.sendPrompt({ prompt, kind, ...contextArguments(kind, prompt, place) });
      this.drafts.clearDraft(kind, prompt);
      if (answer.queued) {
        void showInfo(`queued behind ${answer.queued} other turn${answer.queued === 1 ? "" : "s"}`);
      }
      this.onStarted(kind);
    } catch (problem) {
      const kept = prompt === "" ? "" : "; your prompt is kept for the next attempt";
      throw new Error(`not started: ${errorMessage(problem)}${kept}`, {
        cause: problem,
      });
    }
  }

  /** Starts a turn about a place that the user chose, such as a problem. */
  async startAbout(start: TurnStart & { readonly kind: string }): Promise<void> {
    await this.sendPrompt(start);
    this.onStarted(start.kind);
  }

  private async sendNow(start: TurnStart, place: Place): Promise<StartedTurn> {
    const { visit } = place;
    const sessionId = start.sessionId ?? place.sessionId;
    const noDocument = start["textDocument"] === undefined; // else the server uses the document of the last code action request
    const answer = await this.server.executeCommand<StartedTurn>("tark.turn.start", { ...start, sessionId, noDocument });
    this.turnAccepted({ place, visit }, sessionId, answer, start.prompt);
    this.starts.addStart(answer, start);
    return answer;
  }

  /** Undefined: the user left the box. */
  private async promptFor(kind: string, place: EditorContext): Promise<string | undefined> {
    const [title, example] = ASKS.get(kind) ?? [];
    if (title === undefined || example === undefined) {
      return "";
    }
    if (kind === "edit" && place.textDocument !== undefined && place.range !== undefined) {
      return this.inline.ask(kind, vscode.Uri.parse(place.textDocument.uri), place.range, { title: plainLine(`${title} ${place.description}`), example });
    }
    return askForPrompt(this.drafts, kind, { title: place.description === "" ? title : plainLine(`${title} (${place.description})`), example });
  }
}

/** Rejects a turn that cannot work, before the user types a prompt. */
function checkContext(kind: string, place: EditorContext): void {
  if (kind !== "agent" && kind !== "ask" && place.textDocument === undefined && !place.text) {
    throw new Error("open a file and select the code first");
  }
  if (kind === "edit" && place.textDocument === undefined) {
    throw new Error("only files on disk can be edited: save this document first");
  }
}

/** The cursor means the definition around it, which matters only to kinds that are about code. */
function contextArguments(kind: string, prompt: string, { description: words, textDocument, range, text }: EditorContext): Partial<TurnStart> {
  if (textDocument === undefined) {
    return words === "" || !text ? {} : { context: [{ type: "text", name: "the selection", text }] };
  }
  const points = words !== "" || (kind !== "agent" && kind !== "ask") || /^\s*\/\w/.test(prompt);
  return points && range !== undefined ? { textDocument, range: protocolRange(range) } : { textDocument };
}
