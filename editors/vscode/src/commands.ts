/** What each command of the palette does. Ids are `tark.client.*`: the language client takes the server's own. */

import * as vscode from "vscode";
import { telling } from "./notify";
import type { Parts } from "./parts";

type Command = (parts: Parts, ...given: unknown[]) => unknown;

/** A lens, a row of the tree or a menu hands over what it stands for as the first argument. */
const COMMANDS: Readonly<Record<string, Command>> = {
  "tark.client.agent": ({ turns }) => turns.start("agent"),
  "tark.client.ask": ({ turns }) => turns.start("ask"),
  "tark.client.edit": ({ turns }) => turns.start("edit"),
  "tark.client.explain": ({ turns }) => turns.start("explain"),
  "tark.client.fix": ({ turns }) => turns.start("fix"),
  "tark.client.test": ({ turns }) => turns.start("test"),
  "tark.client.document": ({ turns }) => turns.start("document"),
  "tark.client.chat": ({ chat }) => chat.show({ focus: true }),
  "tark.client.newSession": ({ server, chat }) => {
    server.state.goOn(undefined);
    chat.show({ focus: true });
  },
  "tark.client.acceptHunk": ({ review }, target) => review.decide("accept", "hunk", target),
  "tark.client.rejectHunk": ({ review }, target) => review.decide("reject", "hunk", target),
  "tark.client.acceptFile": ({ review }, target) => review.decide("accept", "file", target),
  "tark.client.rejectFile": ({ review }, target) => review.decide("reject", "file", target),
  "tark.client.acceptAll": ({ review }) => review.decide("accept", "all"),
  "tark.client.rejectAll": ({ review }) => review.decide("reject", "all"),
  "tark.client.regenerateHunk": ({ review }, target) => review.regenerate(target),
  "tark.client.diff": ({ review }, target) => review.diff(target),
  "tark.client.nextHunk": ({ review }) => review.go("next"),
  "tark.client.previousHunk": ({ review }) => review.go("previous"),
  "tark.client.permission": ({ permissions }, requestId) => permissions.show(requestId as string | undefined),
  "tark.client.input": ({ inputs }, requestId) => inputs.show(requestId as string | undefined),
};

export function registerCommands(context: vscode.ExtensionContext, parts: Parts): void {
  for (const [id, command] of Object.entries(COMMANDS)) {
    const run = (...given: unknown[]): Thenable<unknown> => telling(() => command(parts, ...given));
    context.subscriptions.push(vscode.commands.registerCommand(id, run));
  }
}
