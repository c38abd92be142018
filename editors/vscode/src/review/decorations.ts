/** Hunks as they look in the editors: red and green lines, the lines to come at the end of those they belong to. */

import * as vscode from "vscode";
import { code, fence } from "../visible";
import type { ReviewedDocuments } from "./documents";
import { drawn } from "./ghosts";
import type { Placed } from "./placed";
import { asDiff, because } from "./words";

const LONGEST_HOVER = 5000;

function color(id: string): vscode.ThemeColor {
  return new vscode.ThemeColor(id);
}

/** A sign beside the line numbers, readable in dark and light themes. */
function gutter(fill: string, path: string): vscode.DecorationRenderOptions {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="${fill}" d="${path}"/></svg>`;
  return { gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;base64,${btoa(svg)}`), gutterIconSize: "contain" };
}

const MINUS = "M3 7h10v2H3z";
const PLUS = "M3 7h4V3h2v4h4v2H9v4H7V9H3z";
const EXCLAMATION = "M7 2h2v8H7zM7 12h2v2H7z";
const RED = gutter("#e5534b", MINUS);
const GREEN = gutter("#3fa24b", PLUS);
const AMBER = gutter("#c69026", EXCLAMATION);

function line(background: string, ruler: string, sign: vscode.DecorationRenderOptions): vscode.DecorationRenderOptions {
  return {
    ...sign,
    isWholeLine: true,
    backgroundColor: color(background),
    overviewRulerColor: color(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  };
}

const MADE_OF = {
  /** Its text alone, so that what comes stands on green beside it. */
  removed: { ...line("diffEditor.removedLineBackground", "editorOverviewRuler.deletedForeground", RED), isWholeLine: false },
  added: line("diffEditor.insertedLineBackground", "editorOverviewRuler.addedForeground", GREEN),
  conflict: line("editor.findMatchHighlightBackground", "editorOverviewRuler.warningForeground", AMBER),
  removedWord: { backgroundColor: color("diffEditor.removedTextBackground") },
  addedWord: { backgroundColor: color("diffEditor.insertedTextBackground") },
  /** Between two lines nothing stands, so the sign is at the upper one. */
  insertion: { ...GREEN, overviewRulerColor: color("editorOverviewRuler.addedForeground") },
  deletion: { ...RED, overviewRulerColor: color("editorOverviewRuler.deletedForeground") },
  toCome: ghostStyle("gitDecoration.addedResourceForeground", "diffEditor.insertedTextBackground"),
  gone: ghostStyle("gitDecoration.deletedResourceForeground", "diffEditor.removedTextBackground"),
  note: ghostStyle("editorWarning.foreground"),
} satisfies Record<string, vscode.DecorationRenderOptions>;

function ghostStyle(foreground: string, background?: string): vscode.DecorationRenderOptions {
  const colors = background === undefined ? {} : { backgroundColor: color(background) };
  return { after: { color: color(foreground), margin: "0 0 0 2em", ...colors } };
}

type Kind = keyof typeof MADE_OF;
const KINDS = Object.keys(MADE_OF) as Kind[];

export class Decorations implements vscode.Disposable {
  private readonly types = Object.fromEntries(
    KINDS.map((kind) => [kind, vscode.window.createTextEditorDecorationType(MADE_OF[kind])]),
  ) as Record<Kind, vscode.TextEditorDecorationType>;
  private readonly owned: vscode.Disposable;
  private readonly wanted = new Set<string>();

  constructor(private readonly documents: ReviewedDocuments) {
    this.owned = vscode.Disposable.from(
      documents.onDidChange((uri) => this.want(uri)),
      vscode.window.onDidChangeVisibleTextEditors((editors) =>
        editors.forEach((editor) => this.want(editor.document.uri.toString())),
      ),
    );
    vscode.window.visibleTextEditors.forEach((editor) => this.draw(editor));
  }

  dispose(): void {
    this.owned.dispose();
    KINDS.forEach((kind) => this.types[kind].dispose());
  }

  /** Once for all that is told in one go. */
  private want(uri: string): void {
    if (this.wanted.size === 0) {
      setImmediate(() => {
        const uris = new Set(this.wanted);
        this.wanted.clear();
        vscode.window.visibleTextEditors
          .filter((editor) => uris.has(editor.document.uri.toString()))
          .forEach((editor) => this.draw(editor));
      });
    }
    this.wanted.add(uri);
  }

  private draw(editor: vscode.TextEditor): void {
    const drawing: Record<Kind, vscode.DecorationOptions[]> = Object.fromEntries(
      KINDS.map((kind) => [kind, [] as vscode.DecorationOptions[]]),
    ) as Record<Kind, vscode.DecorationOptions[]>;
    for (const placed of this.documents.of(editor.document.uri.toString())) {
      (placed.look === "pending" ? drawPending : drawProblem)(placed, editor.document, (kind, options) => {
        drawing[kind].push(options);
      });
    }
    for (const kind of KINDS) {
      editor.setDecorations(this.types[kind], drawing[kind]);
    }
  }
}

type Add = (kind: Kind, options: vscode.DecorationOptions) => void;

function drawPending(placed: Placed, document: vscode.TextDocument, add: Add): void {
  const { hunk, place } = placed;
  if (hunk.operation?.kind === "move") {
    return; // the lens says it
  }
  const { lines, words, ghosts } = drawn(hunk, place, document.lineCount);
  const [lineKind, wordKind, ghostKind, between]: Kind[] = hunk.applied
    ? ["added", "addedWord", "gone", "deletion"]
    : ["removed", "removedWord", "toCome", "insertion"];
  const hoverMessage = hover(placed);
  for (const each of lines) {
    add(lineKind ?? "added", { range: wholeLine(document, each), hoverMessage });
  }
  for (const { line: at, from, to } of words) {
    add(wordKind ?? "addedWord", { range: new vscode.Range(at, from, at, to) });
  }
  for (const { line: at, text } of ghosts) {
    add(ghostKind ?? "toCome", { range: endOf(document, at), hoverMessage, renderOptions: { after: { contentText: text } } });
    if (!lines.includes(at)) {
      add(between ?? "insertion", { range: endOf(document, at) });
    }
  }
}

function drawProblem(placed: Placed, document: vscode.TextDocument, add: Add): void {
  const { hunk, place, look } = placed;
  const notes = {
    changed: "you changed these lines",
    conflict: `conflict${because(hunk)}: your text is kept`,
    stale: `${hunk.applied ? "not taken back" : "not applied"}${because(hunk)}`,
  };
  const last = document.lineCount - 1;
  const lines = Array.from({ length: place.count }, (_, index) => Math.min(place.start + index, last));
  const at = lines[0] ?? Math.min(Math.max(0, place.start - 1), last);
  for (const each of lines.length > 0 ? lines : [at]) {
    add("conflict", { range: wholeLine(document, each), hoverMessage: hover(placed) });
  }
  const contentText = notes[look as keyof typeof notes];
  add("note", { range: endOf(document, at), hoverMessage: hover(placed), renderOptions: { after: { contentText } } });
}

/** The whole hunk, as text that can be nothing else. */
function hover({ hunk, look }: Placed): vscode.MarkdownString {
  const diff = code(asDiff(hunk));
  const cut = diff.length > LONGEST_HOVER ? `${diff.slice(0, LONGEST_HOVER)}\n… the diff has all of it` : diff;
  const heads = { pending: "Tark's change", changed: "Tark wanted", conflict: "Tark wanted", stale: "Tark wanted" };
  const head = hunk.applied && look === "pending" ? "Tark changed this, to be accepted or rejected" : heads[look];
  return new vscode.MarkdownString(`${head}:\n\n${fence(cut, "diff")}`);
}

function wholeLine(document: vscode.TextDocument, number: number): vscode.Range {
  return document.lineAt(number).range;
}

function endOf(document: vscode.TextDocument, number: number): vscode.Range {
  const { end } = document.lineAt(number).range;
  return new vscode.Range(end, end);
}
