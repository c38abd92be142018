/** Code lenses above each hunk. The server sends none to a client that draws hunks itself. */

import * as vscode from "vscode";
import type { ReviewedDocuments } from "./documents";
import { HUNK_SCHEME as EDITED } from "./editing";
import { codeLensTitle } from "../text/surfaces";
import { relativeName } from "../window/files";
import type { Look, PlacedHunk } from "./placedHunks";
import { decisionTitles } from "./decisionCommands";
import { askedHunks, fileOperation, lineCounts } from "./hunkText";
import type { State } from "../model/state";

const SELECTOR: vscode.DocumentSelector = [{ scheme: "file" }, { scheme: "untitled" }, { scheme: EDITED }];

/** The hunk of a lens, passed to its command. */
export interface Target {
  readonly uri: string;
  readonly hunkId: string;
}

type Button = readonly [title: string, command: string];

const DIFF: Button = ["Diff", "tark.client.diff"];
const EDIT: Button = ["Edit", "tark.client.editHunk"];
const REGENERATE: Button = ["Regenerate", "tark.client.regenerateHunk"];

function accept(title: string): Button {
  return [title, "tark.client.acceptHunk"];
}

function reject(title: string): Button {
  return [title, "tark.client.rejectHunk"];
}

/** A deleted file has no lines to edit, and a moved file has no lines to compare. */
const HIDDEN_BUTTONS: Readonly<Record<"lines" | "remove" | "move", readonly Button[]>> = {
  lines: [],
  remove: [EDIT, REGENERATE],
  move: [EDIT, REGENERATE, DIFF],
};

/** The lenses of a document that edits a hunk. */
const EDITING = [accept("$(check) Accept"), reject("$(close) Reject")];

const BUTTONS: Readonly<Record<Look, (applied: boolean) => readonly Button[]>> = {
  pending: (applied) => {
    const [yes, no] = decisionTitles(applied);
    return [accept(`$(check) ${yes}`), reject(`${applied ? "$(discard)" : "$(close)"} ${no}`), DIFF, EDIT, REGENERATE];
  },
  changed: () => [],
  conflict: () => [accept("Use Tark's Lines"), reject("Keep Mine"), DIFF],
  stale: (applied) => (applied ? [accept("Keep It"), reject("Try Again"), DIFF] : [accept("Try Again"), reject("Keep Mine"), DIFF]),
};

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly owned: vscode.Disposable;

  constructor(
    private readonly documents: ReviewedDocuments,
    private readonly state: State,
  ) {
    this.owned = vscode.Disposable.from(
      documents.onDidChange(() => this.changed.fire()),
      state.on("permission", () => this.changed.fire()),
      vscode.languages.registerCodeLensProvider(SELECTOR, this),
      this.changed,
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const uri = document.uri.toString();
    if (document.uri.scheme === EDITED) {
      return EDITING.map(([title, command]) => new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command }));
    }
    const asked = askedHunks(this.state.permissions);
    return this.documents.hunksOf(uri).flatMap((placed) => lensesOf(uri, placed, document.lineCount, asked.has(placed.hunk.hunkId)));
  }

  dispose(): void {
    this.owned.dispose();
  }
}

/** `asked`: a permission request asks about the hunk, so the lens shows its state and does not ask again. */
function lensesOf(uri: string, placed: PlacedHunk, lineCount: number, asked: boolean): vscode.CodeLens[] {
  const { hunk, place, look } = placed;
  const at = Math.min(place.start, lineCount - 1);
  const range = new vscode.Range(at, 0, at, 0);
  const target: Target = { uri, hunkId: hunk.hunkId };
  const words = fileOperation(hunk, relativeName) ?? lineCounts([hunk]);
  const head = `Tark ${words}${hunk.outsideSelection ? ", outside the selection" : ""}`;
  const isAsked = asked && look === "pending" && !hunk.applied;
  return [
    new vscode.CodeLens(range, { title: codeLensTitle(isAsked ? `${head}, waits for your answer` : head), command: isAsked ? "tark.client.waiting" : "" }),
    ...(isAsked ? [DIFF] : BUTTONS[look](hunk.applied))
      .filter((button) => !HIDDEN_BUTTONS[hunk.operation?.kind ?? "lines"].includes(button))
      .map(([title, command]) => new vscode.CodeLens(range, { title, command, arguments: [target] })),
  ];
}
