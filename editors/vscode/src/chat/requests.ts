/** What the page asks for that needs nothing of the view: of turns, of what waits, of editors and commands. */

import * as vscode from "vscode";
import type { Core } from "../parts";
import { apply, browse, copy, insert, openPath, openUri } from "./editors";
import { line, short } from "../text/visible";
import { RUNS, type ToHost, type ToPage } from "./messages";

const LONGEST_NAME = 80; // of a prompt in a question

export type Handlers = { [Kind in ToHost["kind"]]: (message: Extract<ToHost, { kind: Kind }>) => unknown };

/** Those that it answers itself. */
export type OfTheView = "ready" | "send" | "steer" | "draft" | "earlier" | "fewer" | "complete" | "sessions" | "session";

export function requests(core: Core, tell: (message: ToPage) => void): Omit<Handlers, OfTheView> {
  const { server, turns, undo, waiting } = core;
  const say = (words: string): void => tell({ kind: "say", words });
  return {
    // By a button that may have come up under the mouse.
    undo: async ({ turnId }) => {
      const sure = "Take Back";
      const prompt = server.state.transcripts.get(server.state.sessionId ?? "")?.byId.get(turnId)?.prompt ?? "";
      const named = prompt === "" ? "this turn" : `“${short(line(prompt), LONGEST_NAME)}”`;
      if ((await vscode.window.showWarningMessage(`Take back what ${named} changed?`, { modal: true }, sure)) !== sure) {
        return;
      }
      if (!(await undo.turn(turnId))) {
        say("There is nothing to take back.");
      }
    },
    cancel: ({ turnId }) => server.command("tark.turn.cancel", turnId === undefined ? { sessionId: server.state.sessionId } : { turnId }),
    open: ({ path, first, last }) => openPath(path, first, last),
    openUri: ({ uri, line }) => openUri(uri, line),
    browse: ({ url }) => browse(url),
    copy: ({ text }) => copy(text),
    insert: ({ text }) => insert(text),
    apply: ({ text }) => apply(text, turns),
    run: ({ what }) => vscode.commands.executeCommand(RUNS[what]),
    newSession: () => {
      server.state.goOn(undefined);
      tell({ kind: "focus" });
    },
    // What was shown is what is answered, and what must be seen whole is allowed only then: as for the notification.
    permission: ({ version, reply }) =>
      vscode.commands.executeCommand("tark.client.answerPermission", version, { kind: "reply", title: "", reply }),
    showPermission: ({ requestId }) => vscode.commands.executeCommand("tark.client.permission", requestId),
    input: async ({ requestId, answer }) => {
      if (!(await waiting.answer("input", requestId, { answer }))) {
        say("That was answered meanwhile.");
      }
    },
  };
}
