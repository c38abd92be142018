/**
 * Shows the lines of a hunk that are not in the document as a block of code below its lines, with Keep and Undo, or
 * Accept and Reject. VS Code lets extensions put whole lines between lines only as comment threads.
 *
 * VS Code's quick diff is not suitable. In a folder with Git, a click on the mark beside lines that also differ from the
 * last commit opens Git's text with *Stage Change* and *Revert Change*, whichever source control was registered first
 * (verified in 1.100), and *Revert Change* discards work.
 */

import * as vscode from "vscode";
import { counted } from "../text/figures";
import type { State } from "../model/state";
import { hoverCode } from "../text/surfaces";
import { openDocument } from "../window/files";
import { decisionTitles } from "./decisionCommands";
import type { ReviewedDocuments } from "./documents";
import { otherLines } from "./hunkDrawing";
import type { PlacedHunk } from "./placedHunks";

const CONTROLLER = "tark.review"; // also in package.json
const REMOVED = sign("#e5534b", "M3 7h10v2H3z");
const NEW = sign("#3fa24b", "M3 7h4V3h2v4h4v2H9v4H7V9H3z");

interface Shown {
  readonly uri: string;
  readonly thread: vscode.CommentThread;
  readonly text: string;
}

export class OtherLines implements vscode.Disposable {
  private readonly owned: vscode.Disposable;
  private controller: vscode.CommentController | undefined;
  /** By hunk id. */
  private readonly shown = new Map<string, Shown>();

  constructor(
    private readonly documents: ReviewedDocuments,
    state: State,
  ) {
    this.owned = vscode.Disposable.from(
      documents.onDidChange((uri) => this.update(uri)),
      state.on("hunks", ({ uri }) => this.update(uri)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.update(uri.toString())),
    );
  }

  dispose(): void {
    this.controller?.dispose();
    this.owned.dispose();
  }

  private update(uri: string): void {
    const hunks = openDocument(uri) ? this.documents.hunksOf(uri).filter(({ look }) => look === "pending") : [];
    const placed = new Map(hunks.map((one) => [one.hunk.hunkId, one]));
    for (const [hunkId, { thread }] of [...this.shown].filter(([id, one]) => one.uri === uri && !placed.has(id))) {
      thread.dispose();
      this.shown.delete(hunkId);
    }
    for (const one of placed.values()) {
      this.show(uri, one);
    }
  }

  private show(uri: string, placed: PlacedHunk): void {
    const { hunk } = placed;
    const lines = otherLines(hunk);
    const document = openDocument(uri);
    const known = this.shown.get(hunk.hunkId);
    const text = `${String(hunk.applied)}\0${lines.join("\n")}`;
    if (known && known.text !== text) {
      known.thread.dispose();
      this.shown.delete(hunk.hunkId);
    }
    if (!document || lines.length === 0) {
      return;
    }
    const range = rangeOf(placed, document);
    if (known?.text === text) {
      if (!known.thread.range.isEqual(range)) {
        known.thread.range = range;
      }
      return;
    }
    this.shown.set(hunk.hunkId, { uri, text, thread: this.newThread(document, range, placed, lines) });
  }

  private newThread(document: vscode.TextDocument, range: vscode.Range, { hunk }: PlacedHunk, lines: readonly string[]): vscode.CommentThread {
    this.controller ??= vscode.comments.createCommentController(CONTROLLER, "Tark");
    const body = new vscode.MarkdownString(hoverCode(lines.join("\n"), document.languageId));
    const name = hunk.applied ? `Removed ${counted(lines.length, "line")}` : "New line, not applied";
    const comment: vscode.Comment = { author: { name, iconPath: hunk.applied ? REMOVED : NEW }, body, mode: vscode.CommentMode.Preview };
    const thread = this.controller.createCommentThread(document.uri, range, [comment]);
    thread.canReply = false;
    thread.label = `Tark: ${decisionTitles(hunk.applied).join(" or ")}`;
    thread.contextValue = hunk.applied ? "applied" : "proposed";
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return Object.assign(thread, { hunkId: hunk.hunkId }); // the buttons pass the thread to their commands
  }
}

/**
 * The last line of the hunk, else the line above: the block is drawn below this line. The range does not have all lines of
 * the hunk, because VS Code gives all lines of a range except the last a different background.
 */
function rangeOf({ place }: PlacedHunk, { lineCount }: vscode.TextDocument): vscode.Range {
  const last = Math.min(Math.max(0, place.start + place.count - 1), lineCount - 1);
  return new vscode.Range(last, 0, last, 0);
}

/** A red minus or a green plus. */
function sign(fill: string, path: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="${fill}" d="${path}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${btoa(svg)}`);
}
