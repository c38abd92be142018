/**
 * What the person says goes out from here: as a turn, to the turn that runs, or in place of an earlier prompt.
 *
 * One after the other, so that the second of two quick ones goes on with the session that the first begins. What is on
 * its way shows at once, and what is not taken comes back to the prompt.
 */

import type { StartedTurn } from "../protocol";
import type { State } from "../state";
import type { TurnHead } from "./messages";

export interface Message {
  readonly words: string;
  /** Says it to the turn that runs; as a turn where none runs. */
  readonly steers?: boolean;
  /** The turn whose prompt this one takes the place of, in a session of its own. */
  readonly instead?: string;
}

/** What a prompt needs of the other parts. */
export interface Ways {
  readonly state: State;
  start(prompt: string): Promise<unknown>;
  steer(turn: StartedTurn, prompt: string): Promise<boolean>;
  before(sessionId: string, turnId: string): Promise<string>;
}

export class Outbox {
  private readonly waiting: { readonly message: Message; readonly head: TurnHead; readonly sessionId: string | undefined }[] = [];
  private count = 0;

  /**
   * @param changed what is on its way is something else now
   * @param refused with words for the person
   */
  constructor(
    private readonly ways: Ways,
    private readonly changed: () => void,
    private readonly refused: (message: Message, problem: string) => void,
  ) {}

  get heads(): readonly TurnHead[] {
    return this.waiting.map(({ head }) => head);
  }

  add(message: Message): void {
    this.count += 1;
    const head: TurnHead = { turnId: `sending${this.count}`, state: "sending", prompt: message.words };
    this.waiting.push({ message, head, sessionId: this.ways.state.sessionId });
    this.changed();
    if (this.waiting.length === 1) {
      void this.work();
    }
  }

  private async work(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      let problem: string | undefined;
      try {
        await this.send(next.message, next.sessionId);
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

  private async send({ words, steers, instead }: Message, sessionId: string | undefined): Promise<void> {
    const { state } = this.ways;
    if (instead !== undefined) {
      if (sessionId === undefined) {
        throw new Error("the prompt that this one takes the place of has not been taken yet");
      }
      state.goOn(await this.ways.before(sessionId, instead));
    } else if (steers === true && sessionId !== undefined) {
      const turn = state.transcripts.get(sessionId)?.turns.find((each) => each.state === "running");
      if (turn !== undefined) {
        if (!(await this.ways.steer({ sessionId, turnId: turn.turnId }, words))) {
          throw new Error("the turn is over: send it as a prompt of its own");
        }
        return;
      }
    }
    await this.ways.start(words);
  }
}
