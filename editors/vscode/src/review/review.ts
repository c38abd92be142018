/** Review of changes: creates decorations, code lenses, list and diffs, and runs the commands. */

import * as vscode from "vscode";
import { askForPrompt } from "../window/promptBox";
import type { Drafts } from "../window/drafts";
import { reportErrors, showInfo, showResult } from "../window/notify";
import type { Server } from "../model/server";
import { Decisions } from "./decisions";
import { Decorations } from "./decorations";
import { Diffs } from "./diff";
import { ReviewedDocuments } from "./documents";
import { HunkEditing, HUNK_SCHEME as EDITED } from "./editing";
import { relativeName } from "../window/files";
import { Lenses } from "./lenses";
import { hunkIdOf, HunkTargets } from "./targets";
import { Navigation } from "./navigation";
import type { Decision } from "./decisionCommands";
import { ChangesTree } from "./tree";
import { fileOperation, type UndecidedHunk } from "./hunkText";

const REGENERATE = "regenerate"; // the box

export type { Decision } from "./decisionCommands";
/** `hunk`: the given hunk, or the one at the cursor. */
export type Scope = "hunk" | "file" | "all";

export class Review implements vscode.Disposable {
  private readonly documents: ReviewedDocuments;
  private readonly diffs: Diffs;
  private readonly editing: HunkEditing;
  private readonly targets: HunkTargets;
  private readonly decisions: Decisions;
  private readonly navigation: Navigation;
  private readonly owned: vscode.Disposable;
  private hasHunks = false;

  /** `drafts`: prompts for hunks that could not be regenerated. */
  constructor(
    private readonly drafts: Drafts,
    private readonly server: Server,
  ) {
    this.documents = new ReviewedDocuments(server.state);
    this.diffs = new Diffs(server.state, this.documents);
    this.editing = new HunkEditing(server);
    this.targets = new HunkTargets(server.state, this.documents, this.diffs);
    this.decisions = new Decisions(server, this.targets, this.documents, this.diffs);
    this.navigation = new Navigation(this.targets, this.documents, this.diffs);
    this.owned = vscode.Disposable.from(
      this.documents,
      this.diffs,
      this.editing,
      new Decorations(this.documents),
      new Lenses(this.documents),
      new ChangesTree(server.state),
      vscode.commands.registerCommand("tark.client.openHunk", (target) => reportErrors(() => this.openHunk(target))),
      this.documents.onDidChange(() => this.updateContext()),
      server.state.on("hunks", () => this.updateContext()), // the hunks of a closed file, in a diff
      vscode.window.onDidChangeActiveTextEditor(() => this.updateContext()),
    );
  }

  /** `target`: what a code lens or a list row passes, or the URI of an editor's menu. */
  async decideHunks(decision: Decision, scope: Scope, target?: unknown): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (scope === "all") {
      await this.decisions.decideMany(this.targets.allHunks(), decision);
    } else if (scope === "file") {
      await this.decisions.decideMany(this.targets.hunksInFile(target), decision);
    } else if (document?.uri.scheme !== EDITED || hunkIdOf(target) !== undefined) {
      await this.decisions.decideHunks(this.targets.hunksAt(target), decision);
    } else if (decision === "accept") {
      await this.editing.acceptEdited(document);
    } else {
      await this.decisions.decideHunks(this.targets.hunksAt(this.editing.hunkIn(document)), decision);
      if (!document.isDirty) {
        await this.editing.closeDocument(document);
      }
    }
  }

  async goToHunk(direction: "next" | "previous"): Promise<void> {
    await this.navigation.goToHunk(direction === "next" ? 1 : -1);
  }

  /** Shows the diff of the hunk, else of its file, else of all hunks. */
  async showDiff(target?: unknown): Promise<void> {
    const found = [this.targets.hunksAt(target), this.targets.hunksInFile(target), this.targets.allHunks()].find((some) => some.length > 0);
    const withLines = found?.filter(({ hunk }) => hunk.operation?.kind !== "move") ?? [];
    const [first] = found ?? [];
    if (withLines.length > 0) {
      await this.diffs.showDiff(withLines);
    } else {
      void showInfo(first ? `this change ${fileOperation(first.hunk, relativeName) ?? ""}; its lines do not change` : "nothing to review");
    }
  }

  /** Opens the new lines in a document of their own. */
  async editHunk(target?: unknown): Promise<void> {
    const found = this.oneHunkWithLines(target);
    if (found) {
      await this.editing.openHunk(found.uri, found.hunk);
    }
  }

  async regenerateHunk(target?: unknown): Promise<void> {
    const found = this.oneHunkWithLines(target);
    const prompt =
      found &&
      (await askForPrompt(this.drafts, REGENERATE, {
        title: "Tark: Regenerate Hunk",
        example: "What should be different? Leave empty for another version",
        optional: true,
      }));
    if (found && prompt !== undefined) {
      await this.server.executeCommand("tark.hunk.regenerate", { hunkId: found.hunk.hunkId, prompt });
      this.drafts.clearDraft(REGENERATE, prompt);
      const waits = this.server.state.permissions.some(({ turnId }) => turnId === found.hunk.turnId);
      const when = waits ? "is regenerated after you decide on the rest of its turn" : "is being regenerated";
      showResult(`the change ${when}`);
    }
  }

  dispose(): void {
    this.owned.dispose();
  }

  private async openHunk(target: unknown): Promise<void> {
    const found = this.oneHunk(target);
    if (found) {
      await this.navigation.openHunk(found);
    }
  }

  /** Shows a message if there is no hunk. */
  private oneHunk(target: unknown): UndecidedHunk | undefined {
    const [found] = this.targets.hunksAt(target);
    if (!found) {
      void showInfo(hunkIdOf(target) === undefined ? this.targets.nothingFound() : "that change is already decided");
    }
    return found;
  }

  private oneHunkWithLines(target: unknown): UndecidedHunk | undefined {
    const found = this.oneHunk(target);
    const words = found && fileOperation(found.hunk, relativeName);
    if (words !== undefined) {
      void showInfo(`this change ${words}, so there are no lines to edit`);
    }
    return words === undefined ? found : undefined;
  }

  /**
   * Sets the context of keys and menus. It is about the editor, not the cursor, since keys can be quicker than the
   * cursor.
   */
  private updateContext(): void {
    const hasHunks = this.targets.rangesIn(vscode.window.activeTextEditor).length > 0;
    if (hasHunks !== this.hasHunks) {
      this.hasHunks = hasHunks;
      void vscode.commands.executeCommand("setContext", "tark.hunksInEditor", hasHunks);
    }
  }
}
