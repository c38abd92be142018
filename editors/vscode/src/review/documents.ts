/** Tracks the places of hunks in open documents, from what the server reports and each change of the text. */

import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { State } from "../model/state";
import { ChangeLog, lineChanges, type LineRange } from "./lineRanges";
import { PlacedHunks, type PlacedHunk, type DocumentText } from "./placedHunks";
import { openDocument } from "../window/files";
import { lineRangeOf } from "./hunkText";

/**
 * VS Code moves decorations along with the text. They are redrawn at the tracked places when the user has not typed for
 * this time.
 */
const PAUSE_MS = 150;

export class ReviewedDocuments implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<string>();
  /** Emits the URI of a document whose hunks must be redrawn. */
  readonly onDidChange = this.changed.event;
  private readonly logs = new Map<string, ChangeLog>();
  private readonly placed = new Map<string, PlacedHunks>();
  private readonly pauses = new Map<string, NodeJS.Timeout>();
  private readonly owned: vscode.Disposable;

  constructor(private readonly state: State) {
    vscode.workspace.textDocuments.forEach((document) => this.opened(document));
    this.owned = vscode.Disposable.from(
      state.on("hunks", ({ uri }) => this.hunksChanged(uri)),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.closed(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.textChanged(event)),
      this.changed,
    );
  }

  /** The hunks to draw, in the order of their places. */
  hunksOf(uri: string): PlacedHunk[] {
    return this.placed.get(uri)?.sortedHunks() ?? [];
  }

  /** The current place of a hunk: where it is drawn, else its range from the server. */
  rangeOf(uri: string, hunk: Hunk): LineRange {
    return this.hunksOf(uri).find((placed) => placed.hunk.hunkId === hunk.hunkId)?.place ?? lineRangeOf(hunk);
  }

  /** Has the user changed the hunk's lines without the server having reported the result yet? */
  isTypedOver(uri: string, hunk: Hunk): boolean {
    return this.hunksOf(uri).find((placed) => placed.hunk.hunkId === hunk.hunkId)?.look === "changed";
  }

  dispose(): void {
    this.pauses.forEach((pause) => clearTimeout(pause));
    this.owned.dispose();
  }

  private opened(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    this.logs.set(uri, new ChangeLog(document.version));
    this.placed.delete(uri);
    this.hunksChanged(uri);
  }

  private closed(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    this.logs.delete(uri);
    this.placed.delete(uri);
    clearTimeout(this.pauses.get(uri));
    this.pauses.delete(uri);
  }

  private hunksChanged(uri: string): void {
    const document = openDocument(uri);
    const log = this.logs.get(uri);
    const hunks = this.state.hunks.get(uri);
    const known = this.placed.get(uri);
    if (document && log && (hunks || known)) {
      const placed = known ?? new PlacedHunks(log);
      this.placed.set(uri, placed);
      placed.setHunks(hunks, textOf(document));
      if (!hunks) {
        this.placed.delete(uri);
      }
      this.changed.fire(uri);
    }
  }

  private textChanged({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const uri = document.uri.toString();
    const changes = lineChanges(
      contentChanges.map(({ range: { start, end }, text }) => ({
        startLine: start.line,
        startCharacter: start.character,
        endLine: end.line,
        endCharacter: end.character,
        text,
      })),
      (line) => (line < document.lineCount ? document.lineAt(line).text.length : 0),
    );
    this.logs.get(uri)?.addChanges(document.version, changes);
    const placed = this.placed.get(uri);
    if (!placed || changes.length === 0) {
      return;
    }
    clearTimeout(this.pauses.get(uri));
    this.pauses.delete(uri);
    if (placed.applyChanges(changes, textOf(document))) {
      this.changed.fire(uri);
    } else {
      this.pauses.set(
        uri,
        setTimeout(() => this.changed.fire(uri), PAUSE_MS),
      );
    }
  }
}

function textOf(document: vscode.TextDocument): DocumentText {
  return {
    version: document.version,
    isDirty: document.isDirty,
    lineCount: document.lineCount,
    line: (number) => document.lineAt(number).text,
  };
}
