/** Accepts and rejects hunks. Hunks that the user has not seen are shown first. */

import * as vscode from "vscode";
import { errorMessage, showInfo, showResult, showWarning } from "../window/notify";
import type { Server } from "../model/server";
import type { Diffs } from "./diff";
import type { ReviewedDocuments } from "./documents";
import { hasTab } from "../window/files";
import { isFullyDrawn } from "./hunkDrawing";
import type { HunkTargets } from "./targets";
import { isUncontested, decisionCommands, decisionMessage, type HunkToDecide, type Decision } from "./decisionCommands";
import type { UndecidedHunk } from "./hunkText";

interface Answer {
  readonly hunks?: readonly string[];
  readonly skipped?: readonly { readonly reason: string }[];
}

export class Decisions {
  constructor(
    private readonly server: Server,
    private readonly targets: HunkTargets,
    private readonly documents: ReviewedDocuments,
    private readonly diffs: Diffs,
  ) {}

  /** Decides the hunk that the user chose. Several hunks are decided with `decideMany`. Returns true if they were decided. */
  async decideHunks(chosen: readonly UndecidedHunk[], decision: Decision): Promise<boolean> {
    if (chosen.length > 1) {
      return this.decideMany(chosen, decision);
    }
    if (chosen.length === 0) {
      void showInfo(this.targets.nothingFound());
      return false;
    }
    return !(await this.showFirst(chosen, decision)) && this.sendDecisions(chosen, decision);
  }

  /** Decides many hunks at once, except conflicts, which are decided one by one. */
  async decideMany(chosen: readonly UndecidedHunk[], decision: Decision): Promise<boolean> {
    const pending = chosen.filter((undecided) => isUncontested(this.hunkToDecide(undecided)));
    if (pending.length === 0) {
      void showInfo(chosen.length > 0 ? "only conflicts are left: decide them one by one" : this.targets.nothingFound());
      return false;
    }
    return !(await this.showFirst(pending, decision)) && this.sendDecisions(pending, decision);
  }

  /** Shows the hunks that the user has not seen, and returns true if there are any. */
  private async showFirst(chosen: readonly UndecidedHunk[], decision: Decision): Promise<boolean> {
    const hidden = decision === "accept" ? chosen.filter((undecided) => this.isUnseen(undecided)) : [];
    if (hidden.length > 0) {
      await this.diffs.showDiff(hidden);
      showResult("review the whole change first, then accept it again");
    }
    return hidden.length > 0;
  }

  /** A hunk of a file that is not open or would be deleted, or one that is too long to be drawn in the editor. */
  private isUnseen({ uri, hunk }: UndecidedHunk): boolean {
    if (hunk.applied || hunk.operation?.kind === "move" || this.diffs.wasShown(hunk)) {
      return false;
    }
    const drawn = isFullyDrawn(hunk) && vscode.workspace.getConfiguration("comments").get("visible") !== false;
    return hunk.operation !== undefined || !hasTab(uri) || !drawn;
  }

  /** Sends the commands one after another, since each can change the text. */
  private async sendDecisions(chosen: readonly UndecidedHunk[], decision: Decision): Promise<boolean> {
    const problems = new Set<string>();
    let done = 0;
    const all = chosen.map((undecided) => this.hunkToDecide(undecided));
    for (const { command, argument } of decisionCommands(all, decision)) {
      try {
        const answer = await this.server.executeCommand<Answer | null>(command, argument);
        done += answer?.hunks?.length ?? 1; // null: not known yet, in an editor that the server does not know
        answer?.skipped?.forEach(({ reason }) => problems.add(reason));
      } catch (problem) {
        problems.add(errorMessage(problem));
      }
    }
    const hunks = chosen.map(({ hunk }) => hunk);
    const message = decisionMessage(decision, { done, problems }, hunks, this.targets.allHunks());
    if (problems.size > 0) {
      void showWarning(message);
    } else {
      showResult(message);
    }
    return problems.size === 0;
  }

  private hunkToDecide({ uri, hunk }: UndecidedHunk): HunkToDecide {
    return { hunk, typedOver: this.documents.isTypedOver(uri, hunk) };
  }
}
