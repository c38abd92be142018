/** Tells VS Code whether a chat has the focus, for keybindings. VS Code itself has no context key for the page of a view. */

import * as vscode from "vscode";
import type { Place } from "../model/place";

const FOCUSED = "tark.chatFocused";

let focused: Place | undefined;

/** The messages of two pages can come in any order, so a chat only clears its own focus. */
export function recordFocus(place: Place, hasFocus: boolean): void {
  const now = hasFocus ? place : focused === place ? undefined : focused;
  if ((now === undefined) !== (focused === undefined)) {
    void vscode.commands.executeCommand("setContext", FOCUSED, now !== undefined);
  }
  focused = now;
}
