/**
 * Sends the user's prompts: as a new turn, to the running turn, or in place of an earlier prompt.
 *
 * Prompts are sent one after the other, each to the session in which it was typed. The second of two quick prompts
 * continues the session that the first one starts. Prompts that are being sent are visible; rejected prompts return to
 * the prompt box.
 */

import type { StartedTurn } from "../model/protocol";
import type { Disposable } from "../model/events";
import type { Place } from "../model/place";
import type { State } from "../model/state";
import type { PromptContext } from "./attached";
import type { ReplacedTurn, TurnHead } from "./messages";
import { withoutField } from "../text/serverWords";

export interface OutgoingMessage {
  readonly words: string;
  /** Sends it to the running turn, or as a new turn if none runs. */
  readonly steers?: boolean;
  readonly instead?: ReplacedTurn;
}

/** What the outbox needs from other parts. */
export interface OutboxActions {
  readonly state: State;
  readonly place: Place;
  /** The attachments of the prompt that is sent now. */
  takeContext(): PromptContext;
  start(prompt: string, sessionId: string | undefined, context: PromptContext, kind?: string): Promise<StartedTurn>;
  steer(turn: { readonly sessionId: string; readonly turnId: string }, prompt: string): Promise<boolean>;
  /** Creates a session that continues from before that turn, with the same model, mode and approval level. */
  forkBefore(sessionId: string, turnId: string): Promise<string>;
  /** Creates a session. */
  newSession(): Promise<string>;
}

/** The session of a prompt. Prompts of a session that does not exist yet share one object. */
interface Target {
  sessionId: string | undefined;
}

interface Sent {
  readonly message: OutgoingMessage;
  readonly head: TurnHead;
  readonly target: Target;
  readonly context: PromptContext;
}

export class Outbox implements Disposable {
  private readonly listening: Disposable;
  private readonly waiting: Sent[] = [];
  private count = 0;
  private fresh: Target = { sessionId: undefined };

  /**
   * @param changed the list of prompts that are being sent changed
   * @param refused a prompt was not accepted; gets a message for the user
   */
  constructor(
    private readonly actions: OutboxActions,
    private readonly changed: () => void,
    private readonly refused: (message: OutgoingMessage, problem: string, context: PromptContext) => void,
  ) {
    let { visit } = actions.place;
    this.listening = actions.state.on("session", () => {
      if (visit !== actions.place.visit) {
        visit = actions.place.visit;
        this.fresh = { sessionId: undefined };
        this.changed(); // other prompts are visible now
      }
    });
  }

  dispose(): void {
    this.listening.dispose();
  }

  /** The prompts that are being sent to the visible session. */
  get heads(): readonly TurnHead[] {
    const { sessionId } = this.actions.place;
    const isShown = ({ target }: Sent): boolean => (sessionId === undefined ? target === this.fresh : target.sessionId === sessionId);
    return this.waiting.filter(isShown).map(({ head }) => head);
  }

  addMessage(message: OutgoingMessage): void {
    this.count += 1;
    const head: TurnHead = { turnId: `sending${this.count}`, state: "sending", prompt: message.words };
    const { sessionId } = this.actions.place;
    this.waiting.push({ message, head, target: sessionId === undefined ? this.fresh : { sessionId }, context: this.actions.takeContext() });
    this.changed();
    if (this.waiting.length === 1) {
      void this.sendAll();
    }
  }

  private async sendAll(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      let problem: string | undefined;
      try {
        await this.send(next);
      } catch (failure) {
        problem = withoutField(failure instanceof Error ? failure.message : String(failure));
      }
      this.waiting.shift();
      if (problem !== undefined) {
        this.refused(next.message, problem, next.context);
      }
      this.changed();
    }
  }

  private async send(sent: Sent): Promise<void> {
    const { words, steers, instead } = sent.message;
    const { sessionId } = sent.target;
    if (instead !== undefined) {
      await this.replace(instead, sent);
    } else if (!(steers === true && sessionId !== undefined && (await this.steer(sessionId, words)))) {
      await this.start(sent);
    }
  }

  private async start({ message, target, context }: Sent): Promise<void> {
    if (target.sessionId === undefined && target !== this.fresh) {
      target.sessionId = await this.actions.newSession(); // the user went elsewhere meanwhile
    }
    const answer = await this.actions.start(message.words, target.sessionId, context);
    target.sessionId ??= answer.sessionId;
  }

  /** Shows the new session only after the server accepted the prompt. */
  private async replace({ sessionId, turnId, turnKind }: ReplacedTurn, { message, context }: Sent): Promise<void> {
    const { state, place } = this.actions;
    const other = await this.actions.forkBefore(sessionId, turnId);
    await this.actions.start(message.words, other, context, turnKind);
    if (place.sessionId === sessionId) {
      state.setCurrentSession(other, place);
    }
  }

  /** Returns false if no turn runs in the session. */
  private async steer(sessionId: string, words: string): Promise<boolean> {
    const turn = this.actions.state.transcripts.get(sessionId)?.turns.find(({ state }) => state === "running");
    if (turn !== undefined && !(await this.actions.steer({ sessionId, turnId: turn.turnId }, words))) {
      throw new Error("the turn has ended: send the text as a new prompt");
    }
    return turn !== undefined;
  }
}
