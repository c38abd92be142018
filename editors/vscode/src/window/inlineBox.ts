/**
 * An input box below the selected lines: a comment that is being edited, the only input that VS Code lets an extension
 * put between lines and give the focus.
 *
 * The reply box of an empty thread would look better, but only proposed API can focus it. There is no
 * `commentingRangeProvider`, so the gutter has no `+`. The comment is empty when it is created, or VS Code would open
 * the Comments panel. The keys are in package.json: Enter sends, Escape closes, the arrow keys recall prompts while the
 * box is empty or shows a recalled one (`tark.inlineRecalls`).
 */

import * as vscode from "vscode";
import type { Drafts } from "./drafts";
import { lastFileEditor } from "./lastFileEditor";
import type { PromptHistory } from "./promptHistory";

const BOX = "tark.inline";
const TRIES = 40; // to put a kept text into the box
const AGAIN_MS = 50;
const NEW_MS = 3000; // VS Code can still empty the box within this time after it opened
const RECALLS = "tark.inlineRecalls";

interface Opened {
  readonly thread: vscode.CommentThread;
  readonly box: string;
  readonly editor: vscode.TextEditor | undefined;
  readonly since: number;
  /** The text that was put into the box last: the kept text or a recalled prompt. */
  put: string;
  answer(words: string | undefined): void;
  /** VS Code does that once. */
  wasEmptied?: boolean;
  /** The text of the box, once VS Code has created it. */
  document?: vscode.TextDocument;
}

export class InlineBox implements vscode.Disposable {
  private controller: vscode.CommentController | undefined;
  private opened: Opened | undefined;
  private recalled: string | undefined;
  private readonly listening: vscode.Disposable[];

  constructor(
    private readonly drafts: Drafts,
    private readonly history: PromptHistory,
  ) {
    this.listening = [
      vscode.workspace.onDidOpenTextDocument((document) => this.documentOpened(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === this.opened?.document) {
          this.textChanged(document.getText());
        }
      }),
    ];
  }

  /** Is it the text of this box? VS Code shows extensions the texts of all comments that are being edited. */
  contains(document: vscode.TextDocument): boolean {
    return document === this.opened?.document;
  }

  /** Undefined: the user left the box. The caller calls `drafts.clearDraft` once the text is accepted. */
  ask(box: string, uri: vscode.Uri, range: vscode.Range, { title, example }: { title: string; example: string }): Promise<string | undefined> {
    void this.finish(undefined, false);
    const editor = lastFileEditor();
    this.controller ??= vscode.comments.createCommentController(BOX, "Tark");
    const thread = this.controller.createCommentThread(uri, withoutLastBreak(range), [{ body: "", mode: vscode.CommentMode.Editing, author: { name: example } }]);
    thread.label = title;
    thread.canReply = false;
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.setRecalls(true);
    return new Promise((answer) => {
      this.opened = { thread, box, editor, answer, since: Date.now(), put: this.drafts.draftOf(box) };
    });
  }

  /** The user pressed Enter. */
  async send(): Promise<void> {
    const words = this.opened?.document?.getText().trim() ?? "";
    if (words !== "") {
      this.history.add(words);
      await this.finish(words);
    }
  }

  /** The text is kept for the next time. */
  async close(): Promise<void> {
    await this.finish(undefined);
  }

  /** Shows an earlier prompt, or a later one. */
  async recall(step: -1 | 1): Promise<void> {
    const document = this.opened?.document;
    const words = document && this.history.recall(step, document.getText());
    if (this.opened !== undefined && document !== undefined && words !== undefined) {
      this.recalled = words;
      this.opened.put = words;
      await setText(document, words, new vscode.Range(0, 0, document.lineCount, 0));
    }
  }

  dispose(): void {
    void this.finish(undefined, false);
    this.controller?.dispose();
    for (const disposable of this.listening) {
      disposable.dispose();
    }
  }

  private documentOpened(document: vscode.TextDocument): void {
    const { opened } = this;
    if (opened !== undefined && opened.document === undefined && isEditedComment(document)) {
      opened.document = document;
      void this.putText(document, opened.put);
    }
  }

  /** VS Code empties the box once after it has created it, and refuses an edit of the text before that. */
  private async putText(document: vscode.TextDocument, text: string): Promise<void> {
    if (text === "") {
      return;
    }
    for (let tries = 0; tries < TRIES && document === this.opened?.document && !document.getText().includes(text); tries += 1) {
      await setText(document, text, new vscode.Range(0, 0, 0, 0)); // before what is typed already
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  private textChanged(text: string): void {
    const { opened } = this;
    if (opened?.document !== undefined && text === "" && opened.put !== "" && opened.wasEmptied !== true && Date.now() - opened.since < NEW_MS) {
      opened.wasEmptied = true;
      void this.putText(opened.document, opened.put);
      return;
    }
    if (opened !== undefined) {
      this.drafts.saveDraft(opened.box, text);
    }
    if (text !== this.recalled) {
      this.recalled = undefined;
      this.history.leave();
    }
    this.setRecalls(text === "" || this.recalled !== undefined);
  }

  private setRecalls(recalls: boolean): void {
    void vscode.commands.executeCommand("setContext", RECALLS, recalls);
  }

  /** Otherwise no editor would have the focus. The caller must wait for this, or a box that it opens would lose the focus. */
  private async finish(words: string | undefined, focusesEditor = true): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    this.recalled = undefined;
    opened?.thread.dispose();
    if (focusesEditor && opened?.editor !== undefined) {
      await vscode.window.showTextDocument(opened.editor.document, opened.editor.viewColumn).then(undefined, () => undefined); // it was closed
    }
    opened?.answer(words);
  }
}

/** VS Code also opens a document for the reply box of each thread, such as threads of hunks. Its authority is the thread's. */
function isEditedComment({ uri }: vscode.TextDocument): boolean {
  return uri.scheme === "comment" && uri.authority === "";
}

/** A selection of whole lines ends at the beginning of the next line, and the box would be below that line. */
function withoutLastBreak(range: vscode.Range): vscode.Range {
  const { start, end } = range;
  return end.character === 0 && end.line > start.line ? range.with({ end: new vscode.Position(end.line - 1, 0) }) : range;
}

async function setText({ uri }: vscode.TextDocument, words: string, range: vscode.Range): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, range, words);
  await vscode.workspace.applyEdit(edit);
}
