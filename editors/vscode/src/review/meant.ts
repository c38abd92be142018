/** Which hunks a command means: the one it is given, those in the selection, of the file, or that a diff shows. */

import * as vscode from "vscode";
import type { State } from "../model/state";
import { SCHEME as DIFF, type Diffs } from "./diff";
import type { ReviewedDocuments } from "./documents";
import type { Place } from "./places";
import { nearest, row, touched } from "./selection";
import { allWaiting, count, type WaitingHunk } from "./words";

export class Meant {
  constructor(
    private readonly state: State,
    private readonly documents: ReviewedDocuments,
    private readonly diffs: Diffs,
  ) {}

  all(): WaitingHunk[] {
    return allWaiting(this.state.hunks);
  }

  /** The one given, those in the selections, or those at the cursors. */
  hunks(target: unknown): WaitingHunk[] {
    const given = hunkIdOf(target);
    const editor = vscode.window.activeTextEditor;
    if (given !== undefined || !editor) {
      return this.all().filter(({ hunk }) => hunk.hunkId === given);
    }
    const { uri } = editor.document;
    const isDiff = uri.scheme === DIFF;
    const placed = isDiff ? this.diffs.shownIn(uri) : this.documents.of(uri.toString());
    if (isDiff && placed.length === 1) {
      return this.diffs.shownIn(uri); // there is but one that can be meant
    }
    const places = placed.map(({ place }) => place);
    const chosen = new Set(editor.selections.flatMap(({ start, end }) => touched(places, start.line, end.line)));
    const ofFile = placed.filter(({ hunk }) => hunk.operation); // it is meant wherever one is in it
    const found = chosen.size > 0 ? placed.filter((_, index) => chosen.has(index)) : ofFile;
    const ids = found.map(({ hunk }) => hunk.hunkId);
    return this.all().filter(({ hunk }) => ids.includes(hunk.hunkId));
  }

  /** `target`: a row of the list, the URI of an editor's menu, or nothing: the active editor. */
  inFile(target: unknown): WaitingHunk[] {
    const given = uriOf(target);
    const uri = given === undefined ? vscode.window.activeTextEditor?.document.uri : vscode.Uri.parse(given);
    if (uri?.scheme === DIFF) {
      return this.diffs.shownIn(uri);
    }
    return this.all().filter((each) => each.uri === uri?.toString());
  }

  /** Of the hunks in that editor, in its own lines. */
  places(editor: vscode.TextEditor | undefined): Place[] {
    const uri = editor?.document.uri;
    const placed = uri?.scheme === DIFF ? this.diffs.shownIn(uri) : this.documents.of(uri?.toString() ?? "");
    return placed.map(({ place }) => place);
  }

  /** What is said where there are none. */
  nothing(): string {
    const editor = vscode.window.activeTextEditor;
    const places = this.places(editor);
    const index = editor && nearest(places, editor.selection.active.line);
    const place = index === undefined ? undefined : places[index];
    if (place) {
      return `no change here, the nearest is in line ${String(row(place) + 1)}`;
    }
    const all = this.all();
    return all.length > 0 ? `no change in this file, but ${count(all)}` : "nothing to review";
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
