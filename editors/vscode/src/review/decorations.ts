/** Draws hunks in the editors: a green background for lines that Tark wrote, red for lines that it would remove. */

import * as vscode from "vscode";
import { decorationText, hoverCode } from "../text/surfaces";
import type { ReviewedDocuments } from "./documents";
import { drawHunk } from "./hunkDrawing";
import type { PlacedHunk } from "./placedHunks";
import { decisionTitles } from "./decisionCommands";
import { hunkDiff, reasonInBrackets } from "./hunkText";

const LONGEST_HOVER = 5000;

/** Only colors of VS Code itself: those of an extension such as Git are invisible if it is disabled. */
function color(id: string): vscode.ThemeColor {
  return new vscode.ThemeColor(id);
}

/** An icon beside the line numbers, readable in dark and light themes. */
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

/** High contrast themes define the border, other themes the background. */
function marked(kind: "removed" | "inserted", of: "Line" | "Text"): vscode.ThemableDecorationRenderOptions {
  const [background, border] = [`diffEditor.${kind}${of}Background`, `diffEditor.${kind}TextBorder`];
  return { backgroundColor: color(background), border: "1px solid", borderColor: color(border) };
}

function line(
  look: vscode.ThemableDecorationRenderOptions,
  ruler: string,
  sign: vscode.DecorationRenderOptions,
): vscode.DecorationRenderOptions {
  return {
    ...sign,
    ...look,
    isWholeLine: true,
    overviewRulerColor: color(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  };
}

const CONFLICT = {
  backgroundColor: color("editor.findMatchHighlightBackground"),
  border: "1px solid",
  borderColor: color("editor.findMatchHighlightBorder"),
};

const MADE_OF = {
  removed: line(marked("removed", "Line"), "editorOverviewRuler.deletedForeground", RED),
  added: line(marked("inserted", "Line"), "editorOverviewRuler.addedForeground", GREEN),
  conflict: line(CONFLICT, "editorOverviewRuler.warningForeground", AMBER),
  removedWord: { backgroundColor: color("diffEditor.removedTextBackground") },
  addedWord: { backgroundColor: color("diffEditor.insertedTextBackground") },
  /** An icon cannot stand between two lines, so it is at the upper one. */
  insertion: { ...GREEN, overviewRulerColor: color("editorOverviewRuler.addedForeground") },
  deletion: { ...RED, overviewRulerColor: color("editorOverviewRuler.deletedForeground") },
  /** Carries the hover, once for all lines of the hunk. */
  hunk: {},
  note: { after: { color: color("editorWarning.foreground"), fontStyle: "italic", margin: "0 0 0 2em" } },
} satisfies Record<string, vscode.DecorationRenderOptions>;

type Kind = keyof typeof MADE_OF;
const KINDS = Object.keys(MADE_OF) as Kind[];

export class Decorations implements vscode.Disposable {
  private types: Record<Kind, vscode.TextEditorDecorationType> | undefined;
  /** Editors that have decorations to remove. */
  private readonly drawn = new WeakSet<vscode.TextEditor>();
  private readonly owned: vscode.Disposable;
  private readonly wanted = new Set<string>();

  constructor(private readonly documents: ReviewedDocuments) {
    this.owned = vscode.Disposable.from(
      documents.onDidChange((uri) => this.want(uri)),
      vscode.window.onDidChangeVisibleTextEditors((editors) =>
        editors.forEach((editor) => this.want(editor.document.uri.toString())),
      ),
    );
  }

  dispose(): void {
    this.owned.dispose();
    KINDS.forEach((kind) => this.types?.[kind].dispose());
  }

  /** Redraws once for all changes in the same turn of the event loop. */
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
    const all = this.documents.hunksOf(editor.document.uri.toString());
    if (all.length === 0 && !this.drawn.has(editor)) {
      return;
    }
    this.drawn.add(editor);
    this.types ??= typesOf((kind) => vscode.window.createTextEditorDecorationType(MADE_OF[kind]));
    const drawing = typesOf((): vscode.DecorationOptions[] => []);
    for (const placed of all) {
      (placed.look === "pending" ? drawPending : drawProblem)(placed, editor.document, (kind, options) => {
        drawing[kind].push(options);
      });
    }
    for (const kind of KINDS) {
      editor.setDecorations(this.types[kind], drawing[kind]);
    }
  }
}

function typesOf<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<Kind, T>;
}

type Add = (kind: Kind, options: vscode.DecorationOptions) => void;

function drawPending(placed: PlacedHunk, document: vscode.TextDocument, add: Add): void {
  const { hunk, place } = placed;
  if (hunk.operation?.kind === "move") {
    return; // the code lens shows it
  }
  const { lines, words, between } = drawHunk(hunk, place, document.lineCount);
  const [lineKind, wordKind, betweenKind] = hunk.applied
    ? (["added", "addedWord", "deletion"] as const)
    : (["removed", "removedWord", "insertion"] as const);
  for (const number of lines) {
    add(lineKind, { range: wholeLine(document, number) });
  }
  for (const { line: at, from, to } of words) {
    add(wordKind, { range: new vscode.Range(at, from, at, to) });
  }
  for (const at of between) {
    add(betweenKind, { range: endOf(document, at) });
  }
  const rows = [...lines, ...between].sort((one, other) => one - other);
  const [first = 0, last = first] = [rows[0], rows.at(-1)];
  const from = lines.includes(first) ? wholeLine(document, first).start : endOf(document, first).start;
  add("hunk", { range: new vscode.Range(from, endOf(document, last).end), hoverMessage: hover(placed) });
}

function drawProblem(placed: PlacedHunk, document: vscode.TextDocument, add: Add): void {
  const { hunk, place, look } = placed;
  const notes = {
    changed: "you changed these lines",
    conflict: `conflict${reasonInBrackets(hunk)}: your text is kept`,
    stale: `${hunk.applied ? "not undone" : "not applied"}${reasonInBrackets(hunk)}`,
  };
  const last = document.lineCount - 1;
  const lines = Array.from({ length: place.count }, (_, index) => Math.min(place.start + index, last));
  const at = lines[0] ?? Math.min(Math.max(0, place.start - 1), last);
  const all = lines.length > 0 ? lines : [at];
  for (const number of all) {
    add("conflict", { range: wholeLine(document, number) });
  }
  const range = new vscode.Range(wholeLine(document, at).start, endOf(document, all.at(-1) ?? at).end);
  add("hunk", { range, hoverMessage: hover(placed) });
  const contentText = decorationText(notes[look as keyof typeof notes]);
  add("note", { range: endOf(document, at), renderOptions: { after: { contentText } } });
}

/** The whole hunk as plain text in a fenced block. */
function hover({ hunk, look }: PlacedHunk): vscode.MarkdownString {
  const diff = hunkDiff(hunk);
  const cut = diff.length > LONGEST_HOVER ? `${diff.slice(0, LONGEST_HOVER)}\n… the diff shows the rest` : diff;
  const heads = { pending: "Tark proposes", changed: "Tark proposed", conflict: "Tark proposed", stale: "Tark proposed" };
  const head = hunk.applied && look === "pending" ? "Changed by Tark" : heads[look];
  const [yes, no] = decisionTitles(hunk.applied);
  const keys = look === "pending" ? ` (\`Alt+Y\`: ${yes}, \`Alt+N\`: ${no}; on macOS with \`Cmd\`)` : "";
  return new vscode.MarkdownString(`${head}${keys}:\n\n${hoverCode(cut, "diff")}`);
}

function wholeLine(document: vscode.TextDocument, number: number): vscode.Range {
  return document.lineAt(number).range;
}

function endOf(document: vscode.TextDocument, number: number): vscode.Range {
  const { end } = document.lineAt(number).range;
  return new vscode.Range(end, end);
}
