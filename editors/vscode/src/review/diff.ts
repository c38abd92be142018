/** VS Code's own diff of hunks, on demand: both sides are documents that are made here and belong to no file. */

import * as vscode from "vscode";
import type { Hunk } from "../model/protocol";
import type { State } from "../model/state";
import { line } from "../text/visible";
import { placesOn, side, type ShownHunk, type Side } from "./diffText";
import type { ReviewedDocuments } from "./documents";
import { linesOfFile, nameOf } from "./files";
import type { Place } from "./places";
import { allWaiting, count, plural, type WaitingHunk } from "./words";

export const SCHEME = "tark-diff";
/** What is shown follows the text once nobody types. */
const PAUSE_MS = 200;
/** The key that showed it, pressed twice, is no look at it. */
const LOOK_MS = 500;

/** In the query of such a document. */
interface Shown {
  readonly uri: string;
  readonly side: Side;
  readonly hunkIds: readonly string[];
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** By hunk: the lines whose end was on the screen, and since when. */
  private readonly seen = new Map<string, { readonly text: string; readonly since: number }>();
  /** Of editors of many files, by their titles: what they show. Their tabs do not say. */
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
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      state.on("hunks", ({ uri }) => this.refresh(uri)),
      state.on("server", ({ running }) => (this.isRunning = running)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.refresh(document.uri.toString())),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.look(textEditor)),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.look(editor))),
      this.changed,
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const shown = shownIn(uri);
    return shown ? side(await linesOfFile(shown.uri), this.placed(shown), shown.side) : "";
  }

  /** One file in a diff, several in one editor of them all. */
  async show(waiting: readonly WaitingHunk[]): Promise<void> {
    const byUri = new Map<string, Hunk[]>();
    for (const { uri, hunk } of waiting) {
      byUri.set(uri, [...(byUri.get(uri) ?? []), hunk]);
    }
    const sides = [...byUri].map(([uri, hunks]) => {
      const hunkIds = hunks.map((hunk) => hunk.hunkId);
      return [uriOf({ uri, side: "before", hunkIds }), uriOf({ uri, side: "after", hunkIds }), uri] as const;
    });
    const [only] = sides;
    if (only && sides.length === 1) {
      const [before, after, uri] = only;
      const title = `${line(nameOf(uri))} (Tark: ${plural(waiting.length, "change")})`;
      const first = waiting[0] && this.documents.placeOf(uri, waiting[0].hunk).start;
      const selection = new vscode.Range(first ?? 0, 0, first ?? 0, 0);
      await vscode.commands.executeCommand("vscode.diff", before, after, title, { preview: true, selection });
    } else {
      const resources = sides.map(([before, after, uri]) => [vscode.Uri.parse(uri), before, after]);
      const title = `Tark: ${count(waiting)}`;
      this.many.set(title, waiting.map(({ hunk }) => hunk.hunkId));
      await vscode.commands.executeCommand("vscode.changes", title, resources);
    }
    vscode.window.visibleTextEditors.forEach((editor) => this.look(editor));
  }

  /** Was its end on the screen, as it is now? */
  wasShown(hunk: Hunk): boolean {
    const seen = this.seen.get(hunk.hunkId);
    return seen?.text === textOf(hunk) && Date.now() - seen.since >= LOOK_MS;
  }

  /** The hunks that such a document shows, while they wait, and where they stand in it. */
  shownIn(document: vscode.Uri): (WaitingHunk & { readonly place: Place })[] {
    const shown = shownIn(document);
    const placed = shown ? this.placed(shown) : [];
    const places = shown ? placesOn(placed, shown.side) : [];
    return placed.map(({ hunk, place }, index) => ({ uri: shown?.uri ?? "", hunk, place: places[index] ?? place }));
  }

  dispose(): void {
    clearTimeout(this.pause);
    this.owned.dispose();
  }

  private placed({ uri, hunkIds }: Shown): ShownHunk[] {
    return allWaiting(this.state.hunks)
      .filter((each) => each.uri === uri && hunkIds.includes(each.hunk.hunkId))
      .map(({ hunk }) => ({ hunk, place: this.documents.placeOf(uri, hunk) }));
  }

  /** What will stand there is on the side after it; of a file that is to go all is on the side before. */
  private look({ document, visibleRanges }: vscode.TextEditor): void {
    const shown = shownIn(document.uri);
    for (const { hunk, place } of shown ? this.shownIn(document.uri) : []) {
      const last = Math.min(Math.max(place.start, place.start + place.count - 1), document.lineCount - 1);
      const isOnScreen = visibleRanges.some(({ start, end }) => start.line <= last && last <= end.line);
      const isItsSide = shown?.side === (hunk.operation?.kind === "remove" ? "before" : "after");
      if (isItsSide && isOnScreen && this.seen.get(hunk.hunkId)?.text !== textOf(hunk)) {
        this.seen.set(hunk.hunkId, { text: textOf(hunk), since: Date.now() });
      }
    }
  }

  private refresh(uri: string): void {
    this.forget();
    if (!vscode.workspace.textDocuments.some((document) => shownIn(document.uri)?.uri === uri)) {
      return;
    }
    this.stale.add(uri);
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      for (const document of vscode.workspace.textDocuments) {
        const shown = shownIn(document.uri);
        if (shown && this.stale.has(shown.uri)) {
          this.changed.fire(document.uri);
        }
      }
      this.stale.clear();
      void this.close();
    }, PAUSE_MS);
  }

  /** Where all is decided there is nothing to compare any more. What a server that ended told comes back. */
  private async close(): Promise<void> {
    const waiting = this.waiting();
    const isOver = (ids: readonly string[] | undefined): boolean => ids?.every((id) => !waiting.has(id)) ?? false;
    const isDecided = ({ input, label }: vscode.Tab): boolean =>
      isOver(input instanceof vscode.TabInputTextDiff ? shownIn(input.modified)?.hunkIds : this.many.get(label));
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isDecided);
    if (this.isRunning && tabs.length > 0) {
      await vscode.window.tabGroups.close(tabs, true);
    }
  }

  private forget(): void {
    const waiting = this.waiting();
    [...this.seen.keys()].filter((id) => !waiting.has(id)).forEach((id) => this.seen.delete(id));
  }

  private waiting(): Set<string> {
    return new Set(allWaiting(this.state.hunks).map(({ hunk }) => hunk.hunkId));
  }
}

function textOf(hunk: Hunk): string {
  return `${hunk.newText}\0${hunk.oldText}`;
}

/** The path has the name of the file, so that it is highlighted as one. */
function uriOf(shown: Shown): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: vscode.Uri.parse(shown.uri).path, query: JSON.stringify(shown) });
}

function shownIn(uri: vscode.Uri): Shown | undefined {
  if (uri.scheme !== SCHEME) {
    return undefined;
  }
  try {
    return JSON.parse(uri.query) as Shown;
  } catch {
    return undefined; // somebody made it by hand
  }
}
