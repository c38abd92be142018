/** The server starts with the first file, so that hunks and code actions are there before the first command. */

import * as vscode from "vscode";
import { telling, warn, words } from "./status/notify";
import type { Client } from "./server/client";
import { NoServer } from "./server/server";

const TOLD = "tark.toldOfNoServer"; // once on this machine, until one ran: commands say it, too

export function autostart(context: vscode.ExtensionContext, client: Client): vscode.Disposable {
  const opened = vscode.workspace.onDidOpenTextDocument((document) => start(document));
  const ran = client.state.on("server", ({ running }) => {
    if (running && context.globalState.get(TOLD) !== undefined) {
      void context.globalState.update(TOLD, undefined);
    }
  });
  const soon = setImmediate(() => {
    for (const document of vscode.workspace.textDocuments) {
      start(document);
    }
  });
  return vscode.Disposable.from(opened, ran, { dispose: () => clearImmediate(soon) });

  function start(document: vscode.TextDocument): void {
    const wanted = vscode.workspace.getConfiguration("tark").get<boolean>("server.autostart", true);
    if (document.uri.scheme === "file" && wanted && !client.running && !client.startFailed && !client.isDown) {
      void client.ensure().catch(tell);
    }
  }

  function tell(problem: unknown): void {
    if (!(problem instanceof NoServer)) {
      void warn(words(problem), "Show Output").then((choice) => choice && client.log.show(true));
    } else if (context.globalState.get(TOLD) !== true) {
      void context.globalState.update(TOLD, true);
      void telling(() => Promise.reject(problem));
    }
  }
}
