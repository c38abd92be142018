/** The window in which the tests run: its state, its commands, and how to reset it. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../src/extension";
import type { StartedTurn } from "../../src/model/protocol";
import type { State } from "../../src/model/state";
import type { Turn } from "../../src/model/transcriptTurn";

const PATIENCE_MS = 60_000;
const NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/** Run by test_workbench.py and chat_window/test_chat.py in tests/editors/vscode: VS Code shows no dialogs to tests in the extension host. */
const ELSEWHERE = ["importSession", "deleteSession", "restore", "redo", "mcpRemove"];
const ran = new Set(ELSEWHERE.map((name) => `tark.client.${name}`));

export function extension(): vscode.Extension<Api> {
  return vscode.extensions.getExtension<Api>("tark.tark")!;
}

export async function api(): Promise<Api> {
  return extension().activate();
}

export async function state(): Promise<State> {
  return (await api()).server.state;
}

/** Runs a command of the extension, like the palette, a key, a menu or a code lens. */
export async function run(name: string, ...given: unknown[]): Promise<unknown> {
  const answer = await vscode.commands.executeCommand(`tark.client.${name}`, ...given);
  ran.add(`tark.client.${name}`);
  return answer;
}

/** Commands of package.json that no test has run. */
export function untested(): string[] {
  const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
  return contributes.commands.map(({ command }) => command).filter((command) => !ran.has(command));
}

export async function until<T>(what: string, look: () => T | PromiseLike<T>): Promise<NonNullable<T>> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`never came: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Resets the window: no turns, requests, editors or notifications. Opens `numbers.txt` with ten lines. */
export async function resetWindow(text = `${NUMBERS.join("\n")}\n`): Promise<vscode.TextEditor> {
  const { server } = await api();
  await server.executeCommand("tark.turn.cancel");
  await until("all turns have ended", () => turns(server.state).every((turn) => turn.state === "ended"));
  const left = [...server.state.hunks.values()].flatMap(({ hunks }) => hunks.map(({ hunkId }) => hunkId));
  await (left.length > 0 ? server.executeCommand("tark.hunk.reject", { hunkIds: left }) : undefined);
  await until("nothing to review", () => server.state.hunks.size === 0);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  await vscode.commands.executeCommand("notifications.clearAll");
  server.state.setCurrentSession(undefined);
  return open("numbers.txt", text);
}

export function pathOf(name: string): string {
  return join(vscode.workspace.workspaceFolders![0]!.uri.fsPath, name);
}

export async function open(name: string, text: string): Promise<vscode.TextEditor> {
  const path = pathOf(name);
  if (!existsSync(path)) {
    writeFileSync(path, text);
  }
  const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path));
  if (editor.document.getText() !== text) {
    await editor.edit((edit) => edit.replace(new vscode.Range(0, 0, editor.document.lineCount, 0), text));
  }
  await editor.document.save();
  return editor;
}

/** Whole lines, from 0. */
export function select(editor: vscode.TextEditor, first: number, after: number): void {
  editor.selection = new vscode.Selection(first, 0, after, 0);
}

export function turns(of: State): Turn[] {
  return [...of.transcripts.values()].flatMap((transcript) => transcript.turns);
}

/** The last turn of the current session, once it has ended. */
export async function ended(): Promise<Turn> {
  const known = await state();
  const last = (): Turn | undefined => known.transcripts.get(known.sessionId ?? "")?.turns.at(-1);
  return until("the end of the turn", () => (last()?.state === "ended" ? last() : undefined));
}

export function said(turn: Turn): string {
  return turn.blocks.map((block) => (block.kind === "text" ? block.text : "")).join("");
}

/** Starts a turn without a command of the extension. */
export async function begin(prompt: string): Promise<StartedTurn> {
  const { server } = await api();
  return server.executeCommand<StartedTurn>("tark.turn.start", { prompt, noDocument: true });
}

/** Two hunks in `numbers.txt`: lines 1 and 8. */
export async function proposed(editor: vscode.TextEditor): Promise<void> {
  await begin("upper two and nine");
  const { hunks } = await state();
  await until("two hunks", () => hunks.get(editor.document.uri.toString())?.hunks.length === 2);
}
