/** Where hunks stand in the documents that are open: told by the server, carried over each change of the text. */

import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { State } from "../model/state";
import { ChangeLog, lineChanges, type Place } from "./places";
import { PlacedHunks, type Placed, type Text } from "./placed";
import { placeOf } from "./words";

/** VS Code moves what is drawn along with the text; once the person pauses it is put where we know it is. */
const PAUSE_MS = 150;

export class ReviewedDocuments implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<string>();
  /** Hunks of this document are to be drawn anew, by its URI. */
  readonly onDidChange = this.changed.event;
  private readonly logs = new Map<string, ChangeLog>();
  private readonly placed = new Map<string, PlacedHunks>();
  private readonly pauses = new Map<string, NodeJS.Timeout>();
  private readonly owned: vscode.Disposable;

  constructor(private readonly state: State) {
    vscode.workspace.textDocuments.forEach((document) => this.opened(document));
    this.owned = vscode.Disposable.from(
      state.on("hunks", ({ uri }) => this.told(uri)),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.closed(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.edited(event)),
      this.changed,
    );
  }

  /** Those that are to be drawn, in the order of their places. */
  of(uri: string): Placed[] {
    return this.placed.get(uri)?.all() ?? [];
  }

  /** Where a hunk stands now: where it is drawn, else where the server says. */
  placeOf(uri: string, hunk: Hunk): Place {
    return this.of(uri).find((each) => each.hunk.hunkId === hunk.hunkId)?.place ?? placeOf(hunk);
  }

  /** Did the person type over it, and the server has not said yet what that means? */
  isTypedOver(uri: string, hunk: Hunk): boolean {
    return this.of(uri).find((each) => each.hunk.hunkId === hunk.hunkId)?.look === "changed";
  }

  dispose(): void {
    this.pauses.forEach((pause) => clearTimeout(pause));
    this.owned.dispose();
  }

  private opened(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    this.logs.set(uri, new ChangeLog(document.version));
    this.placed.delete(uri);
    this.told(uri);
  }

  private closed(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    this.logs.delete(uri);
    this.placed.delete(uri);
    clearTimeout(this.pauses.get(uri));
    this.pauses.delete(uri);
  }

  private told(uri: string): void {
    const document = openDocument(uri);
    const log = this.logs.get(uri);
    const hunks = this.state.hunks.get(uri);
    const known = this.placed.get(uri);
    if (document && log && (hunks || known)) {
      const placed = known ?? new PlacedHunks(log);
      this.placed.set(uri, placed);
      placed.update(hunks, textOf(document));
      if (!hunks) {
        this.placed.delete(uri);
      }
      this.changed.fire(uri);
    }
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
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
    this.logs.get(uri)?.add(document.version, changes);
    const placed = this.placed.get(uri);
    if (!placed || changes.length === 0) {
      return;
    }
    clearTimeout(this.pauses.get(uri));
    this.pauses.delete(uri);
    if (placed.changed(changes, textOf(document))) {
      this.changed.fire(uri);
    } else {
      this.pauses.set(
        uri,
        setTimeout(() => this.changed.fire(uri), PAUSE_MS),
      );
    }
  }
}

export function openDocument(uri: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri && !each.isClosed);
}

function textOf(document: vscode.TextDocument): Text {
  return {
    version: document.version,
    isDirty: document.isDirty,
    lineCount: document.lineCount,
    line: (number) => document.lineAt(number).text,
  };
}
