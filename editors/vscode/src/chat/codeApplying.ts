/**
 * Applies a code block to its file (`tark.codeBlock.apply`). The server applies it only if its place is certain. Otherwise
 * the user chooses the file, or lets the model place the code.
 */

import * as vscode from "vscode";
import type { Place } from "../model/place";
import type { StartedTurn } from "../model/protocol";
import type { Server } from "../model/server";
import { type CodeBlock, languageId, type ReadBlock, readBlock } from "../text/codeBlocks";
import { fencedBlock, listRow, plainLine } from "../text/surfaces";
import type { Turns } from "../turns/turns";
import { lastFileEditor } from "../window/lastFileEditor";
import { showWarning } from "../window/notify";
import { openAsNewFile } from "./codeActions";
import { folderPaths } from "./editors";
import { resolveInFolders } from "./workspaceFiles";

interface Problem {
  readonly code: "missing" | "inexact" | "does_not_fit" | "unchanged" | "refused";
  readonly message: string;
}

type Where = { readonly path: string; readonly create?: boolean } | { readonly uris: readonly string[] };

const BY_MODEL = "Let the Model Place It";
const OTHER_FILE = "Select File…";
const MOST_FILES = 50;
const PROMPT = "Apply the code block.";

export class CodeApplying {
  constructor(
    private readonly server: Server,
    private readonly turns: Turns,
    private readonly place: Place,
  ) {}

  async apply(block: CodeBlock): Promise<void> {
    const read = readBlock(block);
    if (read.path !== undefined) {
      await this.applyToPath(block, read, read.path);
      return;
    }
    const uris = likelyEditors(read);
    const problem = await this.ask(read, { uris });
    if (problem?.code === "inexact" && uris.length !== 1) {
      await this.applyToChosen(block, read, problem.message);
    } else {
      await this.report(block, read, problem, uris[0]);
    }
  }

  private async applyToPath(block: CodeBlock, read: ReadBlock, path: string): Promise<void> {
    const problem = await this.ask(read, { path });
    if (problem?.code !== "missing") {
      const file = await resolveInFolders(folderPaths(), path);
      await this.report(block, read, problem, file === undefined ? undefined : vscode.Uri.file(file).toString());
      return;
    }
    const others = await filesCalled(path);
    if (others.length === 0) {
      await this.report(block, read, await this.ask(read, { path, create: true }));
    } else {
      await this.applyToChosen(block, read, problem.message, others, path);
    }
  }

  /** `path`: a new file that can be chosen, too. */
  private async applyToChosen(block: CodeBlock, read: ReadBlock, why: string, first: readonly vscode.Uri[] = [], path?: string): Promise<void> {
    const files = [...first, ...(await likelyFiles(read))].filter((uri, at, all) => all.findIndex((other) => other.toString() === uri.toString()) === at);
    const rows: (vscode.QuickPickItem & { uri?: string; isNew?: boolean })[] = [
      ...files.map((uri) => ({ label: listRow(vscode.workspace.asRelativePath(uri)), uri: uri.toString() })),
      { label: path === undefined ? "$(new-file) New File…" : `$(new-file) Create ${listRow(path)}`, isNew: true },
    ];
    const chosen = await vscode.window.showQuickPick(rows, { title: "Apply Code", placeHolder: plainLine(`Select its file: ${why}`) });
    if (chosen?.uri !== undefined) {
      await this.report(block, read, await this.ask(read, { uris: [chosen.uri] }), chosen.uri);
    } else if (chosen?.isNew && path !== undefined) {
      await this.report(block, read, await this.ask(read, { path, create: true }));
    } else if (chosen?.isNew) {
      await openAsNewFile(block);
    }
  }

  /** Undefined: a turn applies it. */
  private async ask({ text, language }: ReadBlock, where: Where): Promise<Problem | undefined> {
    const { place } = this;
    const { sessionId, visit } = place;
    const argument = { text, language, ...where, ...(sessionId !== undefined && { sessionId }) };
    const answer = await this.server.executeCommand<StartedTurn & { readonly problem?: Problem }>("tark.codeBlock.apply", argument);
    if (answer.problem === undefined) {
      this.turns.turnAccepted({ place, visit }, sessionId, answer, PROMPT);
    }
    return answer.problem;
  }

  /** Says why the block was not applied. `uri`: the file in which the model can place it, unless the block names its files. */
  private async report(block: CodeBlock, read: ReadBlock, problem: Problem | undefined, uri?: string): Promise<void> {
    if (problem === undefined) {
      return;
    }
    const namesFiles = problem.code === "does_not_fit";
    if (problem.code !== "inexact" && !namesFiles) {
      await showWarning(problem.message);
      return;
    }
    const choice = await showWarning(problem.message, BY_MODEL, ...(namesFiles ? [] : [OTHER_FILE]));
    if (choice === OTHER_FILE) {
      await this.applyToChosen(block, read, problem.message);
    } else if (choice === BY_MODEL) {
      await this.placeByModel(read, namesFiles ? undefined : uri);
    }
  }

  private async placeByModel({ text }: ReadBlock, uri: string | undefined): Promise<void> {
    const name = uri === undefined ? "its files" : vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
    const prompt = `Work this code into ${name}, where it belongs, and change nothing else:\n\n${fencedBlock(text, "")}`;
    await this.turns.sendPrompt({ prompt, ...(uri === undefined ? { noDocument: true } : { textDocument: { uri } }) }, this.place);
  }
}

/** The visible files, the active one first. If the language of the block is known, only files in that language. */
function likelyEditors(read: ReadBlock): string[] {
  const editors = [lastFileEditor(), ...vscode.window.visibleTextEditors].filter((editor) => editor?.document.uri.scheme === "file");
  const documents = editors.map((editor) => editor!.document);
  const id = languageId(read);
  const known = read.language !== "diff" && id !== "" && id !== "plaintext";
  return [...new Set(documents.filter(({ languageId: own }) => !known || own === id).map(({ uri }) => uri.toString()))].slice(0, MOST_FILES);
}

/** Files to choose from: the active file, files in tabs, then files with an extension of the language. */
async function likelyFiles(read: ReadBlock): Promise<vscode.Uri[]> {
  const active = lastFileEditor()?.document.uri;
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ input }) => (input instanceof vscode.TabInputText ? input.uri : undefined)));
  const open = [active, ...tabs].filter((uri) => uri?.scheme === "file") as vscode.Uri[];
  const ending = /^[a-z0-9]{1,8}$/.exec(read.language)?.[0];
  const found = ending === undefined ? [] : await vscode.workspace.findFiles(`**/*.${ending}`, undefined, MOST_FILES);
  return [...open, ...found];
}

/** Files of the workspace with the same name, for a path that has lost its folders. */
async function filesCalled(path: string): Promise<vscode.Uri[]> {
  const name = path.split(/[\\/]/).at(-1)!;
  const isPlain = /^[\w.@+ -]+$/.test(name); // no pattern
  return isPlain ? vscode.workspace.findFiles(`**/${name}`, undefined, MOST_FILES) : [];
}
