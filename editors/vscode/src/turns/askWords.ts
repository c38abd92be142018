/** A box for words of the person. What was typed into it and not taken is there again when it opens. */

import * as vscode from "vscode";
import type { Drafts } from "./drafts";

interface Asked {
  readonly title: string;
  readonly example: string;
  /** Also nothing is an answer. */
  readonly optional?: boolean;
}

/** Undefined: nothing is to be done. Who gets words tells `drafts` once they are taken. */
export function askWords(drafts: Drafts, box: string, { title, example, optional = false }: Asked): Promise<string | undefined> {
  const shown = vscode.window.createInputBox();
  shown.title = title;
  shown.placeholder = example;
  shown.value = drafts.of(box);
  return new Promise((resolve) => {
    shown.onDidChangeValue((typed) => drafts.keep(box, typed));
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
