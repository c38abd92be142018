/** Shows hunks in VS Code's diff editor. Both sides are virtual documents. */

import { counted } from "../text/figures";
import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { State } from "../model/state";
import { plainLine } from "../text/surfaces";
import { rangesOnSide, diffSide, type ShownHunk, type Side } from "./diffText";
import type { ReviewedDocuments } from "./documents";
import { readLines, relativeName } from "../window/files";
import type { LineRange } from "./lineRanges";
import { undecidedHunks, countChanges, type UndecidedHunk } from "./hunkText";

export const DIFF_SCHEME = "tark-diff";
/** The title of the tab with all changes. */
const REVIEW = "Tark: Review All";
/** A shown diff is updated after typing stops for this long. */
const PAUSE_MS = 200;
/** A diff counts as seen after this time, so that pressing the key that showed it twice does not accept it. */
const LOOK_MS = 500;

/** The query of a virtual document. */
interface DiffQuery {
  readonly uri: string;
  readonly side: Side;
  readonly hunkIds: readonly string[];
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** By hunk id: the text whose end was on screen, and since when. */
  private readonly seen = new Map<string, { readonly text: string; readonly since: number }>();
  /** The hunk ids of multi-file editors, by title: their tabs do not name them. */
  private readonly many = new Map<string, readonly string[]>();
  private readonly owned: vscode.Disposable;
  private readonly stale = new Set<string>();
  private pause: NodeJS.Timeout | undefined;
  private isRunning = true;

  constructor(
    private readonly state: State,
    private readonly documents: ReviewedDocuments,
  ) {
    this.owned = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(DIFF_SCHEME, this),
      state.on("hunks", ({ uri }) => this.refresh(uri)),
      state.on("server", ({ running }) => (this.isRunning = running)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.refresh(document.uri.toString())),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.recordSeen(textEditor)),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.recordSeen(editor))),
      this.changed,
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const shown = diffQueryOf(uri);
    return shown ? diffSide(await readLines(shown.uri), this.placed(shown), shown.side) : "";
  }

  /** Shows one file in a diff editor, several in a multi-file diff editor. */
  async showDiff(waiting: readonly UndecidedHunk[]): Promise<void> {
    const sides = sidesOf(waiting);
    const [only] = sides;
    if (only && sides.length === 1) {
      const [before, after, uri] = only;
      const title = `${plainLine(relativeName(uri))} (Tark: ${counted(waiting.length, "change")})`;
      const first = waiting[0] && this.documents.rangeOf(uri, waiting[0].hunk).start;
      const selection = new vscode.Range(first ?? 0, 0, first ?? 0, 0);
      await vscode.commands.executeCommand("vscode.diff", before, after, title, { preview: true, selection });
      this.recordVisible();
    } else {
      await this.showMany(`Tark: ${countChanges(waiting)}`, waiting);
    }
  }

  /** Shows all hunks in a multi-file diff editor, even if they are in a single file. */
  async showAll(waiting: readonly UndecidedHunk[]): Promise<void> {
    await this.showMany(REVIEW, waiting);
  }

  /** Does the active tab show all changes? */
  isReviewing(): boolean {
    const label = vscode.window.tabGroups.activeTabGroup.activeTab?.label;
    return label !== undefined && titleOf(label) === REVIEW && this.many.has(REVIEW);
  }

  /** Was the end of the hunk on screen, with its current text? */
  wasShown(hunk: Hunk): boolean {
    const seen = this.seen.get(hunk.hunkId);
    return seen?.text === textOf(hunk) && Date.now() - seen.since >= LOOK_MS;
  }

  /** The undecided hunks that a virtual document shows, with their places in it. */
  hunksShownIn(document: vscode.Uri): (UndecidedHunk & { readonly place: LineRange })[] {
    const shown = diffQueryOf(document);
    const placed = shown ? this.placed(shown) : [];
    const places = shown ? rangesOnSide(placed, shown.side) : [];
    return placed.map(({ hunk, place }, index) => ({ uri: shown?.uri ?? "", hunk, place: places[index] ?? place }));
  }

  dispose(): void {
    clearTimeout(this.pause);
    this.owned.dispose();
  }

  private async showMany(title: string, waiting: readonly UndecidedHunk[]): Promise<void> {
    const resources = sidesOf(waiting).map(([before, after, uri]) => [vscode.Uri.parse(uri), before, after]);
    this.many.set(title, waiting.map(({ hunk }) => hunk.hunkId));
    await vscode.commands.executeCommand("vscode.changes", title, resources);
    this.recordVisible();
  }

  private recordVisible(): void {
    vscode.window.visibleTextEditors.forEach((editor) => this.recordSeen(editor));
  }

  private placed({ uri, hunkIds }: DiffQuery): ShownHunk[] {
    return undecidedHunks(this.state.hunks)
      .filter((undecided) => undecided.uri === uri && hunkIds.includes(undecided.hunk.hunkId))
      .map(({ hunk }) => ({ hunk, place: this.documents.rangeOf(uri, hunk) }));
  }

  /** The new text is on the "after" side. A deleted file is on the "before" side. */
  private recordSeen({ document, visibleRanges }: vscode.TextEditor): void {
    const shown = diffQueryOf(document.uri);
    for (const { hunk, place } of shown ? this.hunksShownIn(document.uri) : []) {
      const last = Math.min(Math.max(place.start, place.start + place.count - 1), document.lineCount - 1);
      const isOnScreen = visibleRanges.some(({ start, end }) => start.line <= last && last <= end.line);
      const isItsSide = shown?.side === (hunk.operation?.kind === "remove" ? "before" : "after");
      if (isItsSide && isOnScreen && this.seen.get(hunk.hunkId)?.text !== textOf(hunk)) {
        this.seen.set(hunk.hunkId, { text: textOf(hunk), since: Date.now() });
      }
    }
  }

  private refresh(uri: string): void {
    this.forgetDecided();
    if (!vscode.workspace.textDocuments.some((document) => diffQueryOf(document.uri)?.uri === uri)) {
      return;
    }
    this.stale.add(uri);
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      for (const document of vscode.workspace.textDocuments) {
        const shown = diffQueryOf(document.uri);
        if (shown && this.stale.has(shown.uri)) {
          this.changed.fire(document.uri);
        }
      }
      this.stale.clear();
      void this.closeDecided();
    }, PAUSE_MS);
  }

  /** Closes diffs whose hunks are all decided. Does not close them when the server has ended, because its hunks come back. */
  private async closeDecided(): Promise<void> {
    const waiting = this.undecidedIds();
    const isOver = (ids: readonly string[] | undefined): boolean => ids?.every((id) => !waiting.has(id)) ?? false;
    const isDecided = ({ input, label }: vscode.Tab): boolean =>
      isOver(input instanceof vscode.TabInputTextDiff ? diffQueryOf(input.modified)?.hunkIds : this.many.get(titleOf(label)));
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isDecided);
    if (this.isRunning && tabs.length > 0) {
      await vscode.window.tabGroups.close(tabs, true);
    }
  }

  private forgetDecided(): void {
    const waiting = this.undecidedIds();
    [...this.seen.keys()].filter((id) => !waiting.has(id)).forEach((id) => this.seen.delete(id));
  }

  private undecidedIds(): Set<string> {
    return new Set(undecidedHunks(this.state.hunks).map(({ hunk }) => hunk.hunkId));
  }
}

/** VS Code adds the number of files to the title of a multi-file diff. */
function titleOf(label: string): string {
  return label.replace(/ \(\d+ files?\)$/, "");
}

function textOf(hunk: Hunk): string {
  return `${hunk.newText}\0${hunk.oldText}`;
}

/** By file: both sides, and its URI. */
function sidesOf(waiting: readonly UndecidedHunk[]): (readonly [before: vscode.Uri, after: vscode.Uri, uri: string])[] {
  const byUri = new Map<string, string[]>();
  for (const { uri, hunk } of waiting) {
    byUri.set(uri, [...(byUri.get(uri) ?? []), hunk.hunkId]);
  }
  return [...byUri].map(([uri, hunkIds]) => [uriOf({ uri, side: "before", hunkIds }), uriOf({ uri, side: "after", hunkIds }), uri]);
}

/** The path ends with the name of the file, which selects the highlighting. */
function uriOf(shown: DiffQuery): vscode.Uri {
  return vscode.Uri.from({ scheme: DIFF_SCHEME, path: vscode.Uri.parse(shown.uri).path, query: JSON.stringify(shown) });
}

function diffQueryOf(uri: vscode.Uri): DiffQuery | undefined {
  if (uri.scheme !== DIFF_SCHEME) {
    return undefined;
  }
  try {
    return JSON.parse(uri.query) as DiffQuery;
  } catch {
    return undefined; // not a URI of this module
  }
}
