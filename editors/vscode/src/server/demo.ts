/** The demo: a window on a temporary project, in which a script plays the model. */

import * as vscode from "vscode";
import type { Server } from "../model/server";

/** The answer of `tark.demo`. */
export interface Demo {
  readonly folder: string;
  readonly file: string;
  readonly prompt: string;
  /** `initializationOptions` of its server. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const DEMOS = "tark.demos"; // the extension made these folders itself, so their settings need no trust
const MOST = 5;

export async function openDemo(context: vscode.ExtensionContext, server: Server): Promise<void> {
  const demo = await server.executeCommand<Demo>("tark.demo");
  await context.globalState.update(DEMOS, [...demosOf(context), demo].slice(-MOST));
  await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(demo.folder), { forceNewWindow: true });
}

/** The demo that this window shows. */
export function demoOfWindow(context: vscode.ExtensionContext): Demo | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return demosOf(context).find((demo) => demo.folder === folder);
}

function demosOf(context: vscode.ExtensionContext): readonly Demo[] {
  return context.globalState.get<readonly Demo[]>(DEMOS, []);
}
