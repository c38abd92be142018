/** Tells VS Code whether a request waits that no visible chat shows. If so, the list of changes is visible. */

import * as vscode from "vscode";
import type { State } from "../model/state";
import type { ShownChat } from "./permissions";

const CONTEXT = "tark.unshownRequests";

export function followUnshownRequests(state: State, chat: ShownChat): vscode.Disposable {
  let before = false;
  const update = (): void => {
    const now = [...state.permissions, ...state.inputs].some(({ sessionId }) => !chat.shows(sessionId));
    if (now !== before) {
      before = now;
      void vscode.commands.executeCommand("setContext", CONTEXT, now);
    }
  };
  const events = (["permission", "input", "session"] as const).map((event) => state.on(event, update));
  return vscode.Disposable.from(...events, chat.onDidChangeVisibility(update));
}
