/** What the page asks for that needs nothing of the view: of turns, of what waits, of editors and commands. */

import * as vscode from "vscode";
import type { Core } from "../parts";
import { apply, browse, copy, insert, openPath, openUri } from "./editors";
import { RUNS, type ToHost, type ToPage } from "./messages";

export type Handlers = { [Kind in ToHost["kind"]]: (message: Extract<ToHost, { kind: Kind }>) => unknown };

/** Those that it answers itself. */
export type OfTheView = "ready" | "send" | "steer" | "draft" | "earlier" | "complete" | "sessions" | "session";

export function requests(core: Core, tell: (message: ToPage) => void): Omit<Handlers, OfTheView> {
  const { server, turns, undo, waiting } = core;
  const say = (words: string): void => tell({ kind: "say", words });
  return {
    undo: async ({ turnId }) => {
      if (!(await undo.turn(turnId))) {
        say("There is nothing to take back.");
      }
    },
    cancel: async ({ turnId }) => {
      const cancelled = turnId ?? toCancel(core);
      if (cancelled === undefined) {
        say("Nothing runs.");
      } else {
        await server.command("tark.turn.cancel", { turnId: cancelled });
      }
    },
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
    permission: async ({ requestId, digest, reply }) => {
      const asked = server.state.permissions.find((each) => each.requestId === requestId);
      if (asked?.digest !== digest || !(await waiting.answer("permission", requestId, reply))) {
        say("That was answered or changed meanwhile.");
      }
    },
    showPermission: ({ requestId }) => vscode.commands.executeCommand("tark.client.permission", requestId),
    input: async ({ requestId, answer }) => {
      if (!(await waiting.answer("input", requestId, { answer }))) {
        say("That was answered meanwhile.");
      }
    },
  };
}

/** The turn that runs, else the one that waits. */
function toCancel({ server }: Core): string | undefined {
  const turns = server.state.transcripts.get(server.state.sessionId ?? "")?.turns ?? [];
  const turn = turns.find(({ state }) => state === "running") ?? turns.find(({ state }) => state === "queued");
  return turn?.turnId;
}
