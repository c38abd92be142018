/** Finds the hunks that a command applies to: the given hunk, or hunks in the selection, in the file, or in a diff. */

import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { State } from "../model/state";
import { DIFF_SCHEME as DIFF, type Diffs } from "./diff";
import type { ReviewedDocuments } from "./documents";
import type { LineRange } from "./lineRanges";
import { nearestRange, rowOf, touchedRanges } from "./selection";
import { undecidedHunks, countChanges, type UndecidedHunk } from "./hunkText";

export class HunkTargets {
  constructor(
    private readonly state: State,
    private readonly documents: ReviewedDocuments,
    private readonly diffs: Diffs,
  ) {}

  allHunks(): UndecidedHunk[] {
    return undecidedHunks(this.state.hunks);
  }

  /** The given hunk, else hunks in the selections or at the cursors of the editor. */
  hunksAt(target: unknown, editor = vscode.window.activeTextEditor): UndecidedHunk[] {
    const given = hunkIdOf(target);
    if (given !== undefined || !editor) {
      return this.allHunks().filter(({ hunk }) => hunk.hunkId === given);
    }
    const { uri } = editor.document;
    const isDiff = uri.scheme === DIFF;
    const placed = isDiff ? this.diffs.hunksShownIn(uri) : this.documents.hunksOf(uri.toString());
    if (isDiff && placed.length === 1) {
      return this.diffs.hunksShownIn(uri); // the only possible one
    }
    const places = placed.map(({ place }) => place);
    const chosen = new Set(editor.selections.flatMap(({ start, end }) => touchedRanges(places, start.line, end.line)));
    const ofFile = placed.filter(({ hunk }) => hunk.operation); // applies to the whole file
    const found = chosen.size > 0 ? placed.filter((_, index) => chosen.has(index)) : ofFile;
    const ids = found.map(({ hunk }) => hunk.hunkId);
    return this.allHunks().filter(({ hunk }) => ids.includes(hunk.hunkId));
  }

  /** `target`: a row of the list, the URI of an editor's menu, or undefined for the active editor. */
  hunksInFile(target: unknown): UndecidedHunk[] {
    const given = uriOf(target);
    const uri = given === undefined ? vscode.window.activeTextEditor?.document.uri : vscode.Uri.parse(given);
    if (uri?.scheme === DIFF) {
      return this.diffs.hunksShownIn(uri);
    }
    return this.allHunks().filter((undecided) => undecided.uri === uri?.toString());
  }

  /** The undecided hunks in that editor, with their places. */
  placedIn(editor: vscode.TextEditor | undefined): readonly { readonly hunk: Hunk; readonly place: LineRange }[] {
    const uri = editor?.document.uri;
    return uri?.scheme === DIFF ? this.diffs.hunksShownIn(uri) : this.documents.hunksOf(uri?.toString() ?? "");
  }

  /** The places of the hunks in that editor. */
  rangesIn(editor: vscode.TextEditor | undefined): LineRange[] {
    return this.placedIn(editor).map(({ place }) => place);
  }

  /** The message if there are no hunks. */
  nothingFound(): string {
    const editor = vscode.window.activeTextEditor;
    const places = this.rangesIn(editor);
    const index = editor && nearestRange(places, editor.selection.active.line);
    const place = index === undefined ? undefined : places[index];
    if (place) {
      return `no change here; the nearest one is in line ${String(rowOf(place) + 1)}`;
    }
    const all = this.allHunks();
    return all.length > 0 ? `no change in this file, but ${countChanges(all)}` : "nothing to review";
  }
}

export function hunkIdOf(target: unknown): string | undefined {
  const given = target as { hunkId?: unknown; hunk?: { hunkId?: unknown } } | null | undefined;
  const id = given?.hunkId ?? given?.hunk?.hunkId;
  return typeof id === "string" ? id : undefined;
}

function uriOf(target: unknown): string | undefined {
  if (target instanceof vscode.Uri) {
    return target.toString();
  }
  const uri = (target as { uri?: unknown } | null | undefined)?.uri;
  return typeof uri === "string" ? uri : undefined;
}
