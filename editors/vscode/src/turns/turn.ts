/** Turns are started here: with the words, the place and the session they are about; none of the words is ever lost. */

import { askWords } from "./askWords";
import type { Drafts } from "./drafts";
import { say } from "../status/notify";
import { type Place, placeHere } from "./place";
import type { StartedTurn } from "../model/protocol";
import type { RunningTurns } from "../model/runningTurns";
import type { Server } from "../server/server";
import type { Sessions } from "../model/sessions";
import type { Updates } from "../model/updates";

/** Of `tark.turn.start`. */
export interface Start {
  readonly prompt: string;
  readonly kind?: string;
  readonly sessionId?: string;
  readonly [field: string]: unknown;
}

/** Those that want words: the title of the box, and what may be said. */
const ASKS: ReadonlyMap<string, readonly [title: string, example: string]> = new Map([
  ["agent", ["Tark", "what is to be done? It reads, searches, edits and runs"]],
  ["ask", ["Tark: ask", "what do you want to know?"]],
  ["edit", ["Tark: edit", "how should these lines be? Nothing outside them changes"]],
]);

export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /**
   * @param drafts by kind: the words of the last start that the server has not taken
   * @param begun a turn of that kind was begun in the editor, and the chat may be shown
   */
  constructor(
    private readonly server: Server,
    private readonly updates: Updates,
    private readonly sessions: Sessions,
    private readonly running: RunningTurns,
    private readonly drafts: Drafts,
    private readonly begun: (kind: string) => void,
  ) {}

  /**
   * Sends a prompt to the current session, or to the one that is named. Fails with words for the person. One after the
   * other, so that the second of two quick ones goes on with the session that the first begins.
   */
  send(start: Start): Promise<StartedTurn> {
    const sent = this.last.then(() => this.sendNow(start));
    this.last = sent.catch(() => undefined);
    return sent;
  }

  /**
   * The server took a turn: it shows at once, and what the person says next goes on with its session. `kind`: it was begun
   * in the editor.
   */
  taken(sessionId: string | undefined, answer: StartedTurn, prompt: string, kind?: string): void {
    const { state } = this.server;
    this.updates.asked(answer, prompt);
    this.running.started(answer);
    if (sessionId === undefined) {
      this.sessions.begun(answer.sessionId);
    }
    if (state.sessionId === sessionId && sessionId !== answer.sessionId) {
      state.goOn(answer.sessionId); // else another was chosen meanwhile
    }
    if (kind !== undefined) {
      this.begun(kind);
    }
  }

  /** From the editor, about its selection: asks for the words where the kind needs some. */
  async start(kind: string): Promise<void> {
    const place = placeHere();
    refuse(kind, place);
    const prompt = await this.wordsFor(kind, place);
    if (prompt === undefined) {
      return;
    }
    try {
      const answer = await this.send({ prompt, kind, ...about(kind, prompt, place) });
      this.drafts.taken(kind, prompt);
      if (answer.queued) {
        void say(`queued behind ${answer.queued} other turn${answer.queued === 1 ? "" : "s"}`);
      }
      this.begun(kind);
    } catch (problem) {
      const kept = prompt === "" ? "" : ". Your words are kept for the next time you ask";
      throw new Error(`not started: ${problem instanceof Error ? problem.message : String(problem)}${kept}`, {
        cause: problem,
      });
    }
  }

  private async sendNow(start: Start): Promise<StartedTurn> {
    const sessionId = start.sessionId ?? this.server.state.sessionId;
    const noDocument = start["textDocument"] === undefined; // else the server takes the one of the last light bulb
    const answer = await this.server.command<StartedTurn>("tark.turn.start", { ...start, sessionId, noDocument });
    this.taken(sessionId, answer, start.prompt);
    return answer;
  }

  /** Undefined: nothing is to be done. */
  private async wordsFor(kind: string, place: Place): Promise<string | undefined> {
    const [title, example] = ASKS.get(kind) ?? [];
    if (title === undefined || example === undefined) {
      return "";
    }
    return askWords(this.drafts, kind, { title: place.words === "" ? title : `${title} (${place.words})`, example });
  }
}

/** Before anything is typed. */
function refuse(kind: string, place: Place): void {
  if (kind !== "agent" && kind !== "ask" && place.textDocument === undefined && !place.text) {
    throw new Error("open a file first, and select what it is about");
  }
  if (kind === "edit" && place.textDocument === undefined) {
    throw new Error("only a file on disk can be changed, and this is none: save it first");
  }
}

/** A cursor means the definition around it, which only matters where something is pointed at. */
function about(kind: string, prompt: string, { words, textDocument, range, text }: Place): Partial<Start> {
  if (textDocument === undefined) {
    return words === "" || !text ? {} : { context: [{ type: "text", name: "the selection", text }] };
  }
  const points = words !== "" || (kind !== "agent" && kind !== "ask") || /^\s*\/\w/.test(prompt);
  return points ? { textDocument, range } : { textDocument };
}
