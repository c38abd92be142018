/** Starts the server with the first file, so that hunks and code actions work before the first command. */

import * as vscode from "vscode";
import { reportErrors, showWarning, errorMessage } from "../window/notify";
import type { Client } from "./client";
import { NoServerError, ServerEndedError } from "../model/server";

const NOTIFIED = "tark.toldOfNoServer"; // once per machine until a server has run; commands report it each time

export function autostart(context: vscode.ExtensionContext, client: Client): vscode.Disposable {
  const opened = vscode.workspace.onDidOpenTextDocument((document) => start(document));
  const started = client.state.on("server", ({ running }) => {
    if (running && context.globalState.get(NOTIFIED) !== undefined) {
      void context.globalState.update(NOTIFIED, undefined);
    }
  });
  const later = setImmediate(() => {
    for (const document of vscode.workspace.textDocuments) {
      start(document);
    }
  });
  return vscode.Disposable.from(opened, started, { dispose: () => clearImmediate(later) });

  function start(document: vscode.TextDocument): void {
    const isEnabled = vscode.workspace.getConfiguration("tark").get<boolean>("server.autostart", true);
    if (document.uri.scheme === "file" && isEnabled && !client.running && !client.startFailed && !client.isDown) {
      void client.ensureRunning().catch(report);
    }
  }

  function report(problem: unknown): void {
    if (problem instanceof ServerEndedError) {
      return; // one message says it
    }
    if (!(problem instanceof NoServerError)) {
      void showWarning(errorMessage(problem), "Show Output").then((choice) => choice && client.log.show(true));
    } else if (context.globalState.get(NOTIFIED) !== true) {
      void context.globalState.update(NOTIFIED, true);
      void reportErrors(() => Promise.reject(problem));
    }
  }
}
