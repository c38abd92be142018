/**
 * What the person says goes out from here: as a turn, to the turn that runs, or in place of an earlier prompt.
 *
 * One after the other, and each to the session it was said in, wherever the person looks by then: the second of two quick
 * ones goes on with the session that the first begins. What is on its way shows at once, and what is not taken comes back.
 */

import type { StartedTurn } from "../model/protocol";
import type { State } from "../model/state";
import type { Instead, TurnHead } from "./messages";

export interface Message {
  readonly words: string;
  /** Says it to the turn that runs; as a turn where none runs. */
  readonly steers?: boolean;
  readonly instead?: Instead;
}

/** The file that the person was at. */
export type Document = { readonly uri: string; readonly version: number } | undefined;

/** What a prompt needs of the other parts. */
export interface Ways {
  readonly state: State;
  document(): Document;
  start(prompt: string, sessionId: string | undefined, document: Document, kind?: string): Promise<StartedTurn>;
  steer(turn: { readonly sessionId: string; readonly turnId: string }, prompt: string): Promise<boolean>;
  /** A session that goes on from before that turn, with the same model, mode and approval level. */
  before(sessionId: string, turnId: string): Promise<string>;
  /** A session of its own. */
  begin(): Promise<string>;
}

/** The session that is meant; one that is yet to begin is the same for all that was said into it. */
interface Target {
  sessionId: string | undefined;
}

interface Sent {
  readonly message: Message;
  readonly head: TurnHead;
  readonly target: Target;
  readonly document: Document;
}

export class Outbox {
  private readonly waiting: Sent[] = [];
  private count = 0;
  private fresh: Target = { sessionId: undefined };

  /**
   * @param changed what is on its way is something else now
   * @param refused with words for the person
   */
  constructor(
    private readonly ways: Ways,
    private readonly changed: () => void,
    private readonly refused: (message: Message, problem: string) => void,
  ) {
    let shown = ways.state.sessionId;
    ways.state.on("session", () => {
      if (shown !== ways.state.sessionId) {
        shown = ways.state.sessionId;
        this.fresh = { sessionId: undefined };
      }
    });
  }

  /** Those that are said into the session that is shown. */
  get heads(): readonly TurnHead[] {
    const { sessionId } = this.ways.state;
    const isShown = ({ target }: Sent): boolean => (sessionId === undefined ? target === this.fresh : target.sessionId === sessionId);
    return this.waiting.filter(isShown).map(({ head }) => head);
  }

  add(message: Message): void {
    this.count += 1;
    const head: TurnHead = { turnId: `sending${this.count}`, state: "sending", prompt: message.words };
    const { sessionId } = this.ways.state;
    this.waiting.push({ message, head, target: sessionId === undefined ? this.fresh : { sessionId }, document: this.ways.document() });
    this.changed();
    if (this.waiting.length === 1) {
      void this.work();
    }
  }

  private async work(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      let problem: string | undefined;
      try {
        await this.send(next);
      } catch (failure) {
        problem = failure instanceof Error ? failure.message : String(failure);
      }
      this.waiting.shift();
      if (problem !== undefined) {
        this.refused(next.message, problem);
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

  private async start({ message, target, document }: Sent): Promise<void> {
    if (target.sessionId === undefined && this.ways.state.sessionId !== undefined) {
      target.sessionId = await this.ways.begin(); // the person went to another one meanwhile
    }
    const answer = await this.ways.start(message.words, target.sessionId, document);
    target.sessionId ??= answer.sessionId;
  }

  /** The person goes there only once it was taken. */
  private async replace({ sessionId, turnId, turnKind }: Instead, { message, document }: Sent): Promise<void> {
    const { state } = this.ways;
    const other = await this.ways.before(sessionId, turnId);
    await this.ways.start(message.words, other, document, turnKind);
    if (state.sessionId === sessionId) {
      state.goOn(other);
    }
  }

  /** False: no turn runs there. */
  private async steer(sessionId: string, words: string): Promise<boolean> {
    const turn = this.ways.state.transcripts.get(sessionId)?.turns.find((each) => each.state === "running");
    if (turn !== undefined && !(await this.ways.steer({ sessionId, turnId: turn.turnId }, words))) {
      throw new Error("the turn is over: send it as a prompt of its own");
    }
    return turn !== undefined;
  }
}
