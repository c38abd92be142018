/** Review of changes: marks, lenses, list and diffs put together, and what the commands do. */

import * as vscode from "vscode";
import { askWords } from "../turns/askWords";
import type { Drafts } from "../turns/drafts";
import { say, telling } from "../status/notify";
import type { Core } from "../parts";
import type { Server } from "../server/server";
import { Deciding } from "./deciding";
import { Decorations } from "./decorations";
import { Diffs } from "./diff";
import { ReviewedDocuments } from "./documents";
import { HunkEditing, SCHEME as EDITED } from "./editing";
import { nameOf } from "./files";
import { Lenses } from "./lenses";
import { hunkIdOf, Meant } from "./meant";
import { Navigation } from "./navigation";
import type { Decision } from "./orders";
import { ChangesTree } from "./tree";
import { operation, type WaitingHunk } from "./words";

const REGENERATE = "regenerate"; // the box

export type { Decision } from "./orders";
/** `hunk`: at the cursor, or the one given. */
export type Scope = "hunk" | "file" | "all";

export class Review implements vscode.Disposable {
  private readonly server: Server;
  private readonly documents: ReviewedDocuments;
  private readonly diffs: Diffs;
  private readonly editing: HunkEditing;
  private readonly meant: Meant;
  private readonly deciding: Deciding;
  private readonly navigation: Navigation;
  private readonly owned: vscode.Disposable;
  private hasHunks = false;

  /** `drafts`: what was said to a change that could not be written anew. */
  constructor(
    private readonly drafts: Drafts,
    core: Core,
  ) {
    const { server } = core;
    this.server = server;
    this.documents = new ReviewedDocuments(server.state);
    this.diffs = new Diffs(server.state, this.documents);
    this.editing = new HunkEditing(server);
    this.meant = new Meant(server.state, this.documents, this.diffs);
    this.deciding = new Deciding(server, this.meant, this.documents, this.diffs);
    this.navigation = new Navigation(this.meant, this.documents, this.diffs);
    this.owned = vscode.Disposable.from(
      this.documents,
      this.diffs,
      this.editing,
      new Decorations(this.documents),
      new Lenses(this.documents),
      new ChangesTree(server.state),
      vscode.commands.registerCommand("tark.client.openHunk", (target) => telling(() => this.open(target))),
      this.documents.onDidChange(() => this.look()),
      server.state.on("hunks", () => this.look()), // of a file that is not open, in a diff
      vscode.window.onDidChangeActiveTextEditor(() => this.look()),
    );
  }

  /** `target`: what a lens or a row of the list hands over, or the URI of an editor's menu. */
  async decide(decision: Decision, scope: Scope, target?: unknown): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (scope === "all") {
      await this.deciding.decideMany(this.meant.all(), decision);
    } else if (scope === "file") {
      await this.deciding.decideMany(this.meant.inFile(target), decision);
    } else if (document?.uri.scheme !== EDITED || hunkIdOf(target) !== undefined) {
      await this.deciding.decide(this.meant.hunks(target), decision);
    } else if (decision === "accept") {
      await this.editing.accept(document);
    } else {
      await this.deciding.decide(this.meant.hunks(this.editing.hunkIn(document)), decision);
      if (!document.isDirty) {
        await this.editing.close(document);
      }
    }
  }

  async go(direction: "next" | "previous"): Promise<void> {
    await this.navigation.go(direction === "next" ? 1 : -1);
  }

  /** Of the hunk at hand, else of its file, else of all. */
  async diff(target?: unknown): Promise<void> {
    const found = [this.meant.hunks(target), this.meant.inFile(target), this.meant.all()].find((some) => some.length > 0);
    const withLines = found?.filter(({ hunk }) => hunk.operation?.kind !== "move") ?? [];
    const [first] = found ?? [];
    if (withLines.length > 0) {
      await this.diffs.show(withLines);
    } else {
      void say(first ? `this change ${operation(first.hunk, nameOf) ?? ""}, its lines stay` : "nothing to review");
    }
  }

  /** The new lines in a document of their own. */
  async edit(target?: unknown): Promise<void> {
    const found = this.oneOfLines(target);
    if (found) {
      await this.editing.open(found.uri, found.hunk);
    }
  }

  async regenerate(target?: unknown): Promise<void> {
    const found = this.oneOfLines(target);
    const prompt =
      found &&
      (await askWords(this.drafts, REGENERATE, {
        title: "Tark: write this change anew",
        example: "what should be otherwise? Nothing: just in another way",
        optional: true,
      }));
    if (found && prompt !== undefined) {
      await this.server.command("tark.hunk.regenerate", { hunkId: found.hunk.hunkId, prompt });
      this.drafts.taken(REGENERATE, prompt);
      const waits = this.server.state.permissions.some(({ turnId }) => turnId === found.hunk.turnId);
      const when = waits ? "will be written anew once you have decided on the rest of its turn" : "is being written anew";
      vscode.window.setStatusBarMessage(`Tark: the change ${when}`, 5000);
    }
  }

  dispose(): void {
    this.owned.dispose();
  }

  private async open(target: unknown): Promise<void> {
    const found = this.one(target);
    if (found) {
      await this.navigation.open(found);
    }
  }

  /** Where there is none, that is said. */
  private one(target: unknown): WaitingHunk | undefined {
    const [found] = this.meant.hunks(target);
    if (!found) {
      void say(hunkIdOf(target) === undefined ? this.meant.nothing() : "that change is decided already");
    }
    return found;
  }

  private oneOfLines(target: unknown): WaitingHunk | undefined {
    const found = this.one(target);
    const words = found && operation(found.hunk, nameOf);
    if (words !== undefined) {
      void say(`this change ${words}: there are no lines to write`);
    }
    return words === undefined ? found : undefined;
  }

  /** What the keys and menus ask for: of the editor, not of the cursor, which keys may be quicker than. */
  private look(): void {
    const hasHunks = this.meant.places(vscode.window.activeTextEditor).length > 0;
    if (hasHunks !== this.hasHunks) {
      this.hasHunks = hasHunks;
      void vscode.commands.executeCommand("setContext", "tark.hunksInEditor", hasHunks);
    }
  }
}
