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
import { OtherLines } from "./otherLines";
import { hunkIdOf, HunkTargets } from "./targets";
import { Navigation } from "./navigation";
import type { Decision } from "./decisionCommands";
import { ChangesTree } from "./tree";
import { ChatKeys, isFromChat } from "./chatKeys";
import { fileOperation, type UndecidedHunk } from "./hunkText";

const REGENERATE = "regenerate"; // the box
const RESTORE_MS = 1000; // after its answer, the server reports the hunks

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
  private readonly chatKeys: ChatKeys;
  private readonly owned: vscode.Disposable;
  private readonly context = new Map<string, boolean>();
  private deciding: Promise<unknown> = Promise.resolve();

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
    this.chatKeys = new ChatKeys(this.targets, this.decisions, this.navigation, this.diffs);
    this.owned = vscode.Disposable.from(
      this.documents,
      this.diffs,
      this.editing,
      new Decorations(this.documents),
      new OtherLines(this.documents, server.state),
      new Lenses(this.documents, server.state),
      new ChangesTree(server.state),
      vscode.commands.registerCommand("tark.client.openHunk", (target) => reportErrors(() => this.openHunk(target))),
      this.documents.onDidChange(() => this.updateContext()),
      server.state.on("hunks", () => this.updateContext()), // the hunks of a closed file, in a diff
      vscode.window.onDidChangeActiveTextEditor(() => this.updateContext()),
      vscode.window.tabGroups.onDidChangeTabs(() => this.updateContext()),
      vscode.window.tabGroups.onDidChangeTabGroups(() => this.updateContext()),
    );
  }

  /**
   * `target`: what a code lens or a list row passes, or the URI of an editor's menu. Keys can be quicker than answers of
   * the server, so a decision starts only when the one before is done and the cursor is at the next hunk.
   */
  async decideHunks(decision: Decision, scope: Scope, target?: unknown): Promise<void> {
    const before = this.deciding;
    const decided = before.then(() => this.decide(decision, scope, target));
    this.deciding = decided.catch(() => undefined); // the caller shows it
    await decided;
  }

  async goToHunk(direction: "next" | "previous", target?: unknown): Promise<void> {
    await this.waitUntilRestored();
    await (isFromChat(target) ? this.chatKeys : this.navigation).goToHunk(direction === "next" ? 1 : -1);
  }

  /** Shows all hunks in a multi-file diff, with the list of changes beside it. */
  async reviewAll(): Promise<void> {
    await this.waitUntilRestored();
    const withLines = this.targets.allHunks().filter(({ hunk }) => hunk.operation?.kind !== "move");
    if (await this.showList(withLines.length > 0)) {
      await this.diffs.showAll(withLines);
    }
  }

  /** Goes to the list of changes. Returns false if it has no changes; then it goes to a request that waits. */
  async showList(preserveFocus = false): Promise<boolean> {
    await this.waitUntilRestored();
    const { permissions, inputs } = this.server.state;
    const count = this.targets.allHunks().length;
    if (count === 0) {
      if (permissions.length + inputs.length === 0) {
        void showInfo("nothing to review");
      } else {
        await vscode.commands.executeCommand("tark.client.waiting");
      }
      return false;
    }
    await vscode.commands.executeCommand("setContext", "tark.hunks", count); // the list is there from now on
    await vscode.commands.executeCommand("tark.changes.focus", { preserveFocus });
    return true;
  }

  /** Shows the diff of the hunk, else of its file, else of all hunks. */
  async showDiff(target?: unknown): Promise<void> {
    await this.waitUntilRestored();
    const found = [this.targets.hunksAt(target), this.targets.hunksInFile(target), this.targets.allHunks()].find((some) => some.length > 0);
    const withLines = found?.filter(({ hunk }) => hunk.operation?.kind !== "move") ?? [];
    const [first] = found ?? [];
    if (withLines.length > 0) {
      await this.diffs.showDiff(withLines);
    } else {
      void showInfo(first ? `this change ${fileOperation(first.hunk, relativeName) ?? ""}; its lines do not change` : "nothing to review");
    }
  }

  /** Opens the new lines in a separate document. */
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
        title: "Regenerate Hunk",
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

  private async decide(decision: Decision, scope: Scope, target: unknown): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    await this.waitUntilRestored();
    if (scope === "all") {
      await this.decisions.decideMany(this.targets.allHunks(), decision);
    } else if (scope === "file") {
      await this.decisions.decideMany(this.targets.hunksInFile(target), decision);
    } else if (isFromChat(target)) {
      await this.chatKeys.decide(decision);
    } else if (document?.uri.scheme !== EDITED || hunkIdOf(target) !== undefined) {
      const chosen = this.targets.hunksAt(target);
      const isDone = await this.decisions.decideHunks(chosen, decision);
      if (isDone && chosen.length === 1 && hunkIdOf(target) === undefined) {
        await this.navigation.goOn(new Set(chosen.map(({ hunk }) => hunk.hunkId)));
      }
    } else if (decision === "accept") {
      await this.editing.acceptEdited(document);
    } else {
      await this.decisions.decideHunks(this.targets.hunksAt(this.editing.hunkIn(document)), decision);
      if (!document.isDirty) {
        await this.editing.closeDocument(document);
      }
    }
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

  /** A server that has just started may restore hunks only when it is asked for them. */
  private async waitUntilRestored(): Promise<void> {
    const { state, running, starting } = this.server;
    if (this.targets.allHunks().length > 0 || (!running && !starting)) {
      return;
    }
    const { hunks } = await this.server.executeCommand<{ readonly hunks: readonly unknown[] }>("tark.hunk.list");
    if (hunks.length > 0 && this.targets.allHunks().length === 0) {
      await new Promise<void>((resolve) => {
        const listening = state.on("hunks", () => done());
        const late = setTimeout(() => done(), RESTORE_MS);
        const done = (): void => {
          clearTimeout(late);
          listening.dispose();
          resolve();
        };
      });
    }
  }

  /**
   * Sets the context of keys and menus. It is about the editor, not the cursor, since keys can be quicker than the
   * cursor.
   */
  private updateContext(): void {
    const placed = this.targets.placedIn(vscode.window.activeTextEditor);
    const all = this.targets.allHunks();
    const now = {
      "tark.hunksInEditor": placed.length > 0,
      "tark.appliedInEditor": placed.some(({ hunk }) => hunk.applied),
      "tark.proposedInEditor": placed.some(({ hunk }) => !hunk.applied),
      "tark.applied": all.some(({ hunk }) => hunk.applied),
      "tark.proposed": all.some(({ hunk }) => !hunk.applied),
      "tark.reviewing": this.diffs.isReviewing(),
    };
    for (const [name, value] of Object.entries(now)) {
      if (this.context.get(name) !== value) {
        this.context.set(name, value);
        void vscode.commands.executeCommand("setContext", name, value);
      }
    }
  }
}
