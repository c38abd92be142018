/** From hunk to hunk, and on to the next file with some. */

import * as vscode from "vscode";
import { say } from "../status/notify";
import type { Diffs } from "./diff";
import type { ReviewedDocuments } from "./documents";
import { SCHEME as DIFF } from "./diff";
import { goTo, moveTo, nameOf } from "./files";
import type { Meant } from "./meant";
import { next, row } from "./selection";
import type { WaitingHunk } from "./words";

export class Navigation {
  /** Where the person was told that there are no more hunks in this file. */
  private toldEnd = "";

  constructor(
    private readonly meant: Meant,
    private readonly documents: ReviewedDocuments,
    private readonly diffs: Diffs,
  ) {}

  /** At the last one it says where it would go on; asked once more, it goes there. */
  async go(step: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const uri = editor?.document.uri.toString() ?? "";
    const places = this.meant.places(editor);
    const line = editor?.selection.active.line ?? 0;
    const found = next(places, line, step);
    if (editor?.document.uri.scheme === DIFF && places.length > 0) {
      const rows = places.map(row);
      moveTo(editor, found ?? (step > 0 ? Math.min(...rows) : Math.max(...rows)));
      return;
    }
    const spot = `${uri} ${String(line)} ${String(step)}`;
    const wasTold = this.toldEnd === spot;
    this.toldEnd = "";
    if (found !== undefined) {
      await goTo(uri, found);
      return;
    }
    const other = this.otherFile(uri, step);
    if (other && (places.length === 0 || wasTold)) {
      await this.open(other);
    } else if (other) {
      this.toldEnd = spot;
      void say(`the ${step > 0 ? "last" : "first"} change of this file; once more goes to ${nameOf(other.uri)}`);
    } else if (places.length === 0) {
      void say("nothing to review");
    } else {
      const rows = places.map(row);
      await goTo(uri, step > 0 ? Math.min(...rows) : Math.max(...rows));
    }
  }

  /** In its file; where there is none yet, as a diff. */
  async open(waiting: WaitingHunk): Promise<void> {
    try {
      await goTo(waiting.uri, row(this.documents.placeOf(waiting.uri, waiting.hunk)));
    } catch {
      await this.diffs.show([waiting]);
    }
  }

  /** The first hunk of the file after this one, or the last of the one before, round to the first. */
  private otherFile(uri: string, step: 1 | -1): WaitingHunk | undefined {
    const all = this.meant.all();
    const uris = [...new Set(all.map((each) => each.uri))];
    const here = uris.indexOf(uri);
    if (uris.length === 0 || (uris.length === 1 && here === 0)) {
      return undefined;
    }
    const index = here < 0 ? (step > 0 ? 0 : -1) : (here + step + uris.length) % uris.length;
    const inOther = all.filter((each) => each.uri === uris.at(index));
    return inOther.at(step > 0 ? 0 : -1);
  }
}
