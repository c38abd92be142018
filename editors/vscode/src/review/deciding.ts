/** Hunks are accepted and rejected here; what nobody has seen is shown before it is accepted with the rest. */

import * as vscode from "vscode";
import { say, warn, words } from "../status/notify";
import type { Server } from "../server/server";
import type { Diffs } from "./diff";
import type { ReviewedDocuments } from "./documents";
import { isInTab } from "./files";
import { drawsAll } from "./ghosts";
import type { Meant } from "./meant";
import { isPlain, orders, told, type Chosen, type Decision } from "./orders";
import type { WaitingHunk } from "./words";

interface Answer {
  readonly hunks?: readonly string[];
  readonly skipped?: readonly { readonly reason: string }[];
}

export class Deciding {
  constructor(
    private readonly server: Server,
    private readonly meant: Meant,
    private readonly documents: ReviewedDocuments,
    private readonly diffs: Diffs,
  ) {}

  /** This one, which the person named; several are many. */
  async decide(chosen: readonly WaitingHunk[], decision: Decision): Promise<void> {
    if (chosen.length > 1) {
      await this.decideMany(chosen, decision);
    } else if (chosen.length === 0) {
      void say(this.meant.nothing());
    } else if (!(await this.showFirst(chosen, decision))) {
      await this.carryOut(chosen, decision);
    }
  }

  /** Many at once: conflicts are decided one by one. */
  async decideMany(chosen: readonly WaitingHunk[], decision: Decision): Promise<void> {
    const pending = chosen.filter((each) => isPlain(this.now(each)));
    if (pending.length === 0) {
      void say(chosen.length > 0 ? "only conflicts are left, which are decided one by one" : this.meant.nothing());
    } else if (!(await this.showFirst(pending, decision))) {
      await this.carryOut(pending, decision);
    }
  }

  /** What would be written unseen is shown instead: true. */
  private async showFirst(chosen: readonly WaitingHunk[], decision: Decision): Promise<boolean> {
    const hidden = decision === "accept" ? chosen.filter((each) => this.isUnseen(each)) : [];
    if (hidden.length > 0) {
      await this.diffs.show(hidden);
      void say("look at all of it first, then accept again");
    }
    return hidden.length > 0;
  }

  /** In files that are not open, of files that are to go, and longer than what is drawn beside the lines. */
  private isUnseen({ uri, hunk }: WaitingHunk): boolean {
    if (hunk.applied || hunk.operation?.kind === "move" || this.diffs.wasShown(hunk)) {
      return false;
    }
    return hunk.operation !== undefined || !isInTab(uri) || !drawsAll(hunk);
  }

  /** One after another, since each may change the text. */
  private async carryOut(chosen: readonly WaitingHunk[], decision: Decision): Promise<void> {
    const problems = new Set<string>();
    let done = 0;
    const all = chosen.map((each) => this.now(each));
    for (const { command, argument } of orders(all, decision)) {
      try {
        const answer = await this.server.command<Answer | null>(command, argument);
        done += answer?.hunks?.length ?? 1; // null: not known yet, in editors that the server does not know
        answer?.skipped?.forEach(({ reason }) => problems.add(reason));
      } catch (problem) {
        problems.add(words(problem));
      }
    }
    const message = told(decision, { done, problems }, this.meant.all());
    if (problems.size > 0) {
      void warn(message);
    } else {
      vscode.window.setStatusBarMessage(`Tark: ${message}`, 5000);
    }
  }

  private now({ uri, hunk }: WaitingHunk): Chosen {
    return { hunk, typedOver: this.documents.isTypedOver(uri, hunk) };
  }
}
