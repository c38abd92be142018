/**
 * The review keys while the chat has the focus. They act on the last editor with changes, and decide only changes that are
 * on the screen there. Otherwise the key shows a change and focuses the editor.
 */

import * as vscode from "vscode";
import { showInfo, showResult } from "../window/notify";
import { lastFileEditor } from "../window/lastFileEditor";
import type { Decision } from "./decisionCommands";
import type { Decisions } from "./decisions";
import { DIFF_SCHEME as DIFF, type Diffs } from "./diff";
import type { UndecidedHunk } from "./hunkText";
import type { Navigation } from "./navigation";
import { isInView, nearestRange } from "./selection";
import type { HunkTargets } from "./targets";

/** The argument of these keys in package.json. */
export function isFromChat(target: unknown): boolean {
  return (target as { from?: unknown } | null | undefined)?.from === "chat";
}

export class ChatKeys {
  constructor(
    private readonly targets: HunkTargets,
    private readonly decisions: Decisions,
    private readonly navigation: Navigation,
    private readonly diffs: Diffs,
  ) {}

  async decide(decision: Decision): Promise<void> {
    const editor = this.editor();
    const chosen = editor === undefined ? [] : this.targets.hunksAt(undefined, editor);
    if (editor === undefined || chosen.length === 0 || !this.areInView(editor, chosen)) {
      await this.show(editor, chosen);
    } else if (await this.decisions.decideHunks(chosen, decision)) {
      await this.navigation.goOn(new Set(chosen.map(({ hunk }) => hunk.hunkId)), editor);
    }
  }

  async goToHunk(step: 1 | -1): Promise<void> {
    if (this.isDiffShown()) {
      await focusEditor();
    }
    await this.navigation.goToHunk(step, this.editor());
  }

  /** The last file editor if it has changes, else another visible editor with changes. None if a diff of Tark is shown. */
  private editor(): vscode.TextEditor | undefined {
    if (this.isDiffShown()) {
      return undefined;
    }
    const others = vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === "file");
    return [lastFileEditor(), ...others].find((editor) => this.targets.placedIn(editor).length > 0);
  }

  private areInView(editor: vscode.TextEditor, chosen: readonly UndecidedHunk[]): boolean {
    const ids = new Set(chosen.map(({ hunk }) => hunk.hunkId));
    const visible = editor.visibleRanges.map(({ start, end }) => ({ first: start.line, last: end.line }));
    return this.targets.placedIn(editor).every(({ hunk, place }) => !ids.has(hunk.hunkId) || isInView(place, visible));
  }

  /** The chosen change, else the nearest one of the editor, else the first of all. */
  private async show(editor: vscode.TextEditor | undefined, [chosen]: readonly UndecidedHunk[]): Promise<void> {
    const shown = chosen ?? (editor && this.nearest(editor)) ?? this.targets.allHunks()[0];
    if (shown === undefined) {
      void showInfo("nothing to review");
      return;
    }
    await (this.isDiffShown() ? focusEditor() : this.navigation.openHunk(shown));
    showResult("nothing is decided yet: look at the change, and press the key again");
  }

  private nearest(editor: vscode.TextEditor): UndecidedHunk | undefined {
    const placed = this.targets.placedIn(editor);
    const index = nearestRange(placed.map(({ place }) => place), editor.selection.active.line);
    const found = index === undefined ? undefined : placed[index];
    return found && { uri: editor.document.uri.toString(), hunk: found.hunk };
  }

  /** The editors inside a multi-file diff do not report which lines are on the screen. */
  private isDiffShown(): boolean {
    return this.diffs.isReviewing() || vscode.window.activeTextEditor?.document.uri.scheme === DIFF;
  }
}

async function focusEditor(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
}
