/** Handles messages of the page that do not need the view: about turns, pending requests, editors and commands. */

import * as vscode from "vscode";
import type { ChatDependencies } from "./dependencies";
import { recordFocus } from "./chatFocus";
import { copyCode, insertCode, openAsNewFile } from "./codeActions";
import { CodeApplying } from "./codeApplying";
import { openInBrowser, openPath, openUri } from "./editors";
import type { Place } from "../model/place";
import { approvePlan } from "../turns/approvePlan";
import { redoTurn } from "../turns/redo";
import { PAGE_COMMANDS, type ToHost, type ToPage } from "./messages";

export type PageHandlers = { [Kind in ToHost["kind"]]: (message: Extract<ToHost, { kind: Kind }>) => unknown };

/** The messages that the view handles itself. */
export type ViewRequest = "again" | "wait" | "remedy" | "setup" | "ready" | "send" | "steer" | "draft" | "earlier" | "fewer" | "complete" | "attach" | "attachUris" | "attachData" | "detach" | "sessions" | "session";

export function pageRequests(dependencies: ChatDependencies, place: Place, tell: (message: ToPage) => void): Omit<PageHandlers, ViewRequest> {
  const { server, turns, undo, restore, pending } = dependencies;
  const applying = new CodeApplying(server, turns, place);
  const say = (words: string): void => tell({ kind: "say", words });
  const undoing = new Set<string>(); // a second press changes nothing
  return {
    // Does not ask: redo brings everything back.
    undo: async ({ turnId }) => {
      if (undoing.has(turnId)) {
        return;
      }
      undoing.add(turnId);
      const isUndone = await undo.undoTurn(turnId).finally(() => undoing.delete(turnId));
      if (!isUndone) {
        say("There is nothing to undo.");
      }
    },
    redo: ({ turnId }) => redoTurn(server, turnId, true),
    restore: async ({ turnId }) => {
      const words = await restore.restoreTo(place.sessionId ?? "", turnId);
      if (words !== undefined) {
        tell({ kind: "words", words });
      }
    },
    approvePlan: () => approvePlan(server, turns),
    cancel: ({ turnId }) => server.executeCommand("tark.turn.cancel", turnId === undefined ? { sessionId: place.sessionId } : { turnId }),
    open: ({ path, first, last }) => openPath(path, first, last),
    openUri: ({ uri, line }) => openUri(uri, line),
    browse: ({ url }) => openInBrowser(url),
    focused: () => recordFocus(place, true),
    blurred: () => recordFocus(place, false),
    copy: ({ text }) => copyCode(text),
    insert: ({ text }) => insertCode(text),
    apply: (block) => applying.apply(block),
    newFile: (block) => openAsNewFile(block),
    run: ({ what }) => vscode.commands.executeCommand(PAGE_COMMANDS[what]),
    newSession: () => {
      server.state.setCurrentSession(undefined, place);
      tell({ kind: "focus" });
    },
    // The same command as for the notification: it checks the version, and that the user has seen the whole request.
    permission: ({ version, reply, wasSeen }) =>
      vscode.commands.executeCommand("tark.client.answerPermission", version, { kind: "reply", title: "", reply }, wasSeen),
    showPermission: ({ requestId }) => vscode.commands.executeCommand("tark.client.permission", requestId),
    input: async ({ requestId, answer }) => {
      if (!(await pending.answerRequest("input", requestId, { answer }))) {
        say("This was already answered.");
      }
    },
  };
}
