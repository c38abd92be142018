/** Hunks are accepted and rejected here; what nobody has seen is shown before it is accepted with the rest. */

import * as vscode from "vscode";
import { say, warn, words } from "../notify";
import type { Server } from "../server/server";
import type { Diffs } from "./diff";
import { openDocument, type ReviewedDocuments } from "./documents";
import type { Meant } from "./meant";
import { isPlain, orders, told, type Chosen, type Decision } from "./orders";
import { count, type WaitingHunk } from "./words";

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

  /** These, which the person named one by one. */
  async decide(chosen: readonly WaitingHunk[], decision: Decision): Promise<void> {
    if (chosen.length === 0) {
      void say(this.meant.nothing());
      return;
    }
    await this.carryOut(chosen, decision);
  }

  /** Many at once: conflicts are decided one by one. */
  async decideMany(chosen: readonly WaitingHunk[], decision: Decision): Promise<void> {
    const pending = chosen.filter((each) => isPlain(this.now(each)));
    if (pending.length === 0) {
      void say(chosen.length > 0 ? "only conflicts are left, which are decided one by one" : this.meant.nothing());
      return;
    }
    const hidden = decision === "accept" ? this.unseen(pending) : [];
    if (hidden.length > 0) {
      await this.diffs.show(hidden);
      void say(`look at what is not open yet (${count(hidden)}), then accept again`);
      return;
    }
    await this.carryOut(pending, decision);
  }

  /** What would be written unseen: into files that are not open, or files that are to go. */
  private unseen(waiting: readonly WaitingHunk[]): WaitingHunk[] {
    return waiting.filter(({ uri, hunk }) => {
      const isOpen = openDocument(uri) !== undefined && !hunk.operation;
      return !(isOpen || hunk.applied || this.diffs.wasShown(hunk));
    });
  }

  /** One after another, since each may change the text. */
  private async carryOut(chosen: readonly WaitingHunk[], decision: Decision): Promise<void> {
    const problems = new Set<string>();
    let done = 0;
    const all = chosen.map((each) => this.now(each));
    for (const { command, argument } of orders(all, decision)) {
      try {
        const answer = await this.server.command<Answer>(command, argument);
        done += answer.hunks?.length ?? 1;
        answer.skipped?.forEach(({ reason }) => problems.add(reason));
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
