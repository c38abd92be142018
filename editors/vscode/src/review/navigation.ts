/** Goes from hunk to hunk, and on to the next file with hunks. */

import * as vscode from "vscode";
import { showInfo, showResult } from "../window/notify";
import type { Diffs } from "./diff";
import type { ReviewedDocuments } from "./documents";
import { DIFF_SCHEME as DIFF } from "./diff";
import { openAtLine, moveCursor, relativeName } from "../window/files";
import type { HunkTargets } from "./targets";
import { nextRow, rowOf } from "./selection";
import type { UndecidedHunk } from "./hunkText";

export class Navigation {
  /** The position at which the user was told that this file has no more hunks. */
  private announcedEnd = "";

  constructor(
    private readonly targets: HunkTargets,
    private readonly documents: ReviewedDocuments,
    private readonly diffs: Diffs,
  ) {}

  /** At the last hunk of a file, the first call names the next file, and the second call goes there. */
  async goToHunk(step: 1 | -1, editor = vscode.window.activeTextEditor): Promise<void> {
    const uri = editor?.document.uri.toString() ?? "";
    const places = this.targets.rangesIn(editor);
    const line = editor?.selection.active.line ?? 0;
    const found = nextRow(places, line, step);
    if (editor?.document.uri.scheme === DIFF && places.length > 0) {
      const rows = places.map(rowOf);
      moveCursor(editor, found ?? (step > 0 ? Math.min(...rows) : Math.max(...rows)));
      return;
    }
    const spot = `${uri} ${String(line)} ${String(step)}`;
    const wasTold = this.announcedEnd === spot;
    this.announcedEnd = "";
    if (found !== undefined) {
      await openAtLine(uri, found);
      return;
    }
    const other = this.otherFile(uri, step);
    if (other && (places.length === 0 || wasTold)) {
      await this.openHunk(other);
    } else if (other) {
      this.announcedEnd = spot;
      showResult(`this is the ${step > 0 ? "last" : "first"} change in this file; run the command again to go to ${relativeName(other.uri)}`);
    } else if (places.length === 0) {
      void showInfo("nothing to review");
    } else {
      const rows = places.map(rowOf);
      await openAtLine(uri, step > 0 ? Math.min(...rows) : Math.max(...rows));
    }
  }

  /** After a decision with a key: goes to the next hunk of this file, else of the next file. */
  async goOn(decided: ReadonlySet<string>, editor = vscode.window.activeTextEditor): Promise<void> {
    const left = this.targets.placedIn(editor).filter(({ hunk }) => !decided.has(hunk.hunkId));
    if (editor && left.length > 0) {
      const rows = left.map(({ place }) => rowOf(place));
      moveCursor(editor, rows.find((row) => row >= editor.selection.active.line) ?? Math.min(...rows));
      return;
    }
    const uri = editor?.document.uri;
    const other = uri?.scheme === DIFF ? undefined : this.otherFile(uri?.toString() ?? "", 1, decided);
    await (other && this.openHunk(other));
  }

  /** Opens the hunk in its file. If the file does not exist, shows a diff. */
  async openHunk(waiting: UndecidedHunk): Promise<void> {
    try {
      await openAtLine(waiting.uri, rowOf(this.documents.rangeOf(waiting.uri, waiting.hunk)));
    } catch {
      await this.diffs.showDiff([waiting]);
    }
  }

  /** The first hunk of the next file or the last hunk of the previous file, wrapping around. */
  private otherFile(uri: string, step: 1 | -1, decided: ReadonlySet<string> = new Set()): UndecidedHunk | undefined {
    const all = this.targets.allHunks().filter(({ hunk }) => !decided.has(hunk.hunkId));
    const uris = [...new Set(all.map((undecided) => undecided.uri))];
    const here = uris.indexOf(uri);
    if (uris.length === 0 || (uris.length === 1 && here === 0)) {
      return undefined;
    }
    const index = here < 0 ? (step > 0 ? 0 : -1) : (here + step + uris.length) % uris.length;
    const inOther = all.filter((undecided) => undecided.uri === uris.at(index));
    return inOther.at(step > 0 ? 0 : -1);
  }
}
