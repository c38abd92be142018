/** Shows dialogs, and notifications and results that never take the focus. */

import * as vscode from "vscode";
import { NoServerError, ServerEndedError } from "../model/server";
import { withoutField } from "../text/serverWords";
import { notificationText, plainLine, statusBarText } from "../text/surfaces";

const INSTALL = "Install Server";
const REPEATED_MS = 1000;
const RESULT_MS = 5000;
const LONGEST = 500; // VS Code cuts longer messages, and does not show them at all if they have buttons

const shownAt = new Map<string, number>();

/** `actions` are the buttons. Resolves with the one the user pressed, or with undefined. */
export async function showInfo<A extends string>(message: string, ...actions: A[]): Promise<A | undefined> {
  return showOnce(message, (text) => vscode.window.showInformationMessage(text, ...actions));
}

export async function showWarning<A extends string>(message: string, ...actions: A[]): Promise<A | undefined> {
  return showOnce(message, (text) => vscode.window.showWarningMessage(text, ...actions));
}

/** Shows a result that needs no answer in the status bar, for some seconds. */
export function showResult(message: string): void {
  vscode.window.setStatusBarMessage(`Tark: ${statusBarText(message)}`, RESULT_MS);
}

/** Asks in a dialog before something that cannot be undone. Resolves with true if the user pressed `action`. */
export async function confirm(question: string, action: string, detail?: string): Promise<boolean> {
  const options = { modal: true, ...(detail !== undefined && { detail }) };
  return (await vscode.window.showWarningMessage(plainLine(question), options, action)) === action;
}

/** Asks in a dialog which of these actions to take. Undefined: none. */
export async function chooseAction<A extends string>(question: string, detail: string, ...actions: A[]): Promise<A | undefined> {
  return vscode.window.showWarningMessage(plainLine(question), { modal: true, detail }, ...actions);
}

/** Runs `work`. Shows a notification if it fails. */
export async function reportErrors<T>(work: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (problem) {
    reportError(problem);
    return undefined;
  }
}

/** Shows nothing if the server ended meanwhile, because another message says so. */
export function reportError(problem: unknown): void {
  const errors = problem instanceof Error ? [problem, problem.cause] : [];
  if (errors.some((error) => error instanceof ServerEndedError)) {
    return;
  }
  if (errors.some((error) => error instanceof NoServerError)) {
    void showWarning(errorMessage(problem), INSTALL).then((choice) => choice && vscode.commands.executeCommand("tark.client.install"));
  } else {
    void showWarning(errorMessage(problem));
  }
}

export function errorMessage(problem: unknown): string {
  return withoutField(problem instanceof Error ? problem.message : String(problem));
}

/** Shows the same text only once within a second, while it can be seen. */
async function showOnce<A>(message: string, show: (text: string) => PromiseLike<A | undefined>): Promise<A | undefined> {
  const text = `Tark: ${oneLine(message)}`;
  const now = Date.now();
  for (const [shown, at] of shownAt) {
    if (now - at > REPEATED_MS) {
      shownAt.delete(shown);
    }
  }
  if (shownAt.has(text)) {
    return undefined;
  }
  shownAt.set(text, now);
  try {
    return await show(text);
  } catch {
    return undefined; // the window is closing
  } finally {
    shownAt.delete(text); // once it is closed, the same text is news again
  }
}

/** Errors of programs can have several lines, whose layout does not matter. */
function oneLine(message: string): string {
  const characters = [...notificationText(message.trim().replace(/\s*[\r\n]+\s*/g, " "))];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : characters.join("");
}
