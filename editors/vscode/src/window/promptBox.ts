/** An input box for a prompt. It opens with the text that was typed last and not accepted. */

import * as vscode from "vscode";
import type { Drafts } from "./drafts";

interface BoxOptions {
  readonly title: string;
  readonly example: string;
  /** The text can be empty. */
  readonly optional?: boolean;
}

/** Undefined: the user left the box. The caller calls `drafts.clearDraft` once the text is accepted. */
export function askForPrompt(drafts: Drafts, box: string, { title, example, optional = false }: BoxOptions): Promise<string | undefined> {
  const shown = vscode.window.createInputBox();
  shown.title = title;
  shown.placeholder = example;
  shown.value = drafts.draftOf(box);
  return new Promise((resolve) => {
    shown.onDidChangeValue((typed) => drafts.saveDraft(box, typed));
    shown.onDidAccept(() => {
      const typed = shown.value.trim();
      if (typed !== "" || optional) {
        resolve(typed);
        shown.hide();
      }
    });
    shown.onDidHide(() => {
      resolve(undefined);
      shown.dispose();
    });
    shown.show();
  });
}
