/** VS Code's own diff of hunks, on demand: both sides are documents that are made here and belong to no file. */

import * as vscode from "vscode";
import type { Hunk } from "../protocol";
import type { State } from "../state";
import { side, type Side } from "./diffText";
import type { ReviewedDocuments } from "./documents";
import { linesOfFile, nameOf } from "./files";
import { allWaiting, count, type WaitingHunk } from "./words";

export const SCHEME = "tark-diff";
/** What is shown follows the text once nobody types. */
const PAUSE_MS = 200;

/** In the query of such a document. */
interface Shown {
  readonly uri: string;
  readonly side: Side;
  readonly hunkIds: readonly string[];
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** What was shown of each hunk, by its id. */
  private readonly seen = new Map<string, string>();
  private readonly owned: vscode.Disposable;
  private readonly stale = new Set<string>();
  private pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly state: State,
    private readonly documents: ReviewedDocuments,
  ) {
    this.owned = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      state.on("hunks", ({ uri }) => this.refresh(uri)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.refresh(document.uri.toString())),
      this.changed,
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const shown = shownIn(uri);
    const known = shown && this.state.hunks.get(shown.uri);
    if (!shown) {
      return "";
    }
    const hunks = (known?.hunks ?? []).filter((hunk) => shown.hunkIds.includes(hunk.hunkId));
    const placed = hunks.map((hunk) => ({ hunk, place: this.documents.placeOf(shown.uri, hunk) }));
    return side(await linesOfFile(shown.uri), placed, shown.side);
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
      const title = `${nameOf(uri)} (Tark: ${count(waiting)})`;
      const first = waiting[0] && this.documents.placeOf(uri, waiting[0].hunk).start;
      const selection = new vscode.Range(first ?? 0, 0, first ?? 0, 0);
      await vscode.commands.executeCommand("vscode.diff", before, after, title, { preview: true, selection });
    } else {
      const resources = sides.map(([before, after, uri]) => [vscode.Uri.parse(uri), before, after]);
      await vscode.commands.executeCommand("vscode.changes", `Tark: ${count(waiting)}`, resources);
    }
    waiting.forEach(({ hunk }) => this.seen.set(hunk.hunkId, textOf(hunk)));
  }

  /** Was all of it shown as it is now? */
  wasShown(hunk: Hunk): boolean {
    return this.seen.get(hunk.hunkId) === textOf(hunk);
  }

  /** The hunks that such a document shows, while they wait. */
  shownIn(document: vscode.Uri): WaitingHunk[] {
    const shown = shownIn(document);
    return shown ? allWaiting(this.state.hunks).filter(({ hunk }) => shown.hunkIds.includes(hunk.hunkId)) : [];
  }

  dispose(): void {
    clearTimeout(this.pause);
    this.owned.dispose();
  }

  private refresh(uri: string): void {
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
    }, PAUSE_MS);
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
