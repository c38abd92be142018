/** What the person is told in a line; what they should not see goes to the output channel. */

import * as vscode from "vscode";
import { NoServer } from "../server/server";
import { line as visible } from "../text/visible";

const INSTALL = "Install Server";
const REPEATED_MS = 1000;
const LONGEST = 500; // VS Code shows no more of a message, and one with buttons not at all

const told = new Map<string, number>();

/** Its buttons are `actions`; undefined: none of them. Does not take the focus. */
export async function say<A extends string>(message: string, ...actions: A[]): Promise<A | undefined> {
  return once(message, (text) => vscode.window.showInformationMessage(text, ...actions));
}

export async function warn<A extends string>(message: string, ...actions: A[]): Promise<A | undefined> {
  return once(message, (text) => vscode.window.showWarningMessage(text, ...actions));
}

/** Failures are told, whatever they are. */
export async function telling<T>(work: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (problem) {
    if (problem instanceof Error && [problem, problem.cause].some((each) => each instanceof NoServer)) {
      void warn(words(problem), INSTALL).then((choice) => choice && vscode.commands.executeCommand("tark.client.install"));
    } else {
      void warn(words(problem));
    }
    return undefined;
  }
}

export function words(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

/** The same text within a second is told once. */
async function once<A>(message: string, show: (text: string) => PromiseLike<A | undefined>): Promise<A | undefined> {
  const text = `Tark: ${plain(message)}`;
  const now = Date.now();
  for (const [each, at] of told) {
    if (now - at > REPEATED_MS) {
      told.delete(each);
    }
  }
  if (told.has(text)) {
    return undefined;
  }
  told.set(text, now);
  try {
    return await show(text);
  } catch {
    return undefined; // the window closes
  }
}

/** VS Code would make links of what others wrote. */
function plain(message: string): string {
  const text = visible(message.replace(/\s*[\r\n]+\s*/g, " "));
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
