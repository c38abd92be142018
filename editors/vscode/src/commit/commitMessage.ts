/** Writes a commit message into the input box of a Git repository. It commits nothing. */

import * as vscode from "vscode";
import { REMEDY_COMMANDS } from "../chat/messages";
import type { Optional } from "../model/protocol";
import type { Server } from "../model/server";
import { REMEDY_LABELS, turnProblem } from "../model/turnProblems";
import { listRow } from "../text/surfaces";
import { reportErrors, showInfo, showWarning } from "../window/notify";
import { changedFiles, recentSubjects } from "./changes";
import type { GitApi, GitExtension, Repository } from "./git";
import { afterPrefix } from "../text/serverWords";

const REPLACE = "Replace";
const SET_UP = "Set Up Model";
const WRITING = "tark.writingCommitMessage"; // for the `when` clauses of package.json

interface Answer {
  readonly message?: Optional<string>;
  /** As at the end of a turn. */
  readonly error?: Optional<{ readonly code: string; readonly message: string }>;
}

export class CommitMessages {
  private running: AbortController | undefined;

  constructor(private readonly server: Server) {}

  /** `target`: the source control whose button was pressed; undefined if the command was run from the palette. */
  async generate(target: unknown): Promise<void> {
    if (this.running !== undefined) {
      return;
    }
    const git = await gitApi();
    const repository = await chooseRepository(git, (target as Partial<vscode.SourceControl> | undefined)?.rootUri);
    if (repository === undefined) {
      return;
    }
    if (target === undefined) {
      await vscode.commands.executeCommand("workbench.view.scm"); // the box is there
    }
    const before = repository.inputBox.value;
    if (before.trim() !== "" && (await showInfo("the message box has text. Replace it with a new message?", REPLACE)) === undefined) {
      return;
    }
    const running = (this.running = new AbortController());
    void vscode.commands.executeCommand("setContext", WRITING, true);
    try {
      const options = { location: vscode.ProgressLocation.SourceControl, title: "Generating commit message" };
      const answer = await vscode.window.withProgress(options, () => this.ask(repository, running.signal));
      if (!running.signal.aborted) {
        void reportErrors(() => this.use(repository, before, answer, target)); // it can wait for an answer of the user
      }
    } catch (problem) {
      if (!running.signal.aborted) {
        throw problem;
      }
    } finally {
      this.running = undefined;
      void vscode.commands.executeCommand("setContext", WRITING, false);
    }
  }

  stop(): void {
    this.running?.abort();
  }

  private async ask(repository: Repository, signal: AbortSignal): Promise<Answer> {
    await repository.status();
    const files = await changedFiles(repository, signal);
    if (files.length === 0) {
      throw new Error("there are no changes to describe");
    }
    signal.throwIfAborted();
    const argument = { root: repository.rootUri.toString(), files, recentSubjects: await recentSubjects(repository), model: this.model };
    return this.server.executeCommand<Answer>("tark.commitMessage", argument, signal);
  }

  /** Does not overwrite what the user typed in the meantime. */
  private async use(repository: Repository, before: string, { message, error }: Answer, target: unknown): Promise<void> {
    if (error != null) {
      await this.report(error, () => this.generate(target));
    } else if (message != null) {
      const { inputBox } = repository;
      if (inputBox.value === before || (await showInfo("the message box has new text. Replace it with the generated message?", REPLACE)) === REPLACE) {
        inputBox.value = message;
      }
    }
  }

  /** Uses the texts and the buttons of the chat's cards. */
  private async report({ code, message }: NonNullable<Answer["error"]>, again: () => Promise<void>): Promise<void> {
    const { sentence, remedies } = turnProblem("error", code, this.model)!;
    const useful = remedies.filter((remedy) => remedy !== "newSession" && remedy !== "continue");
    const labels = code === "no_model" ? [SET_UP] : useful.map((remedy) => REMEDY_LABELS[remedy]);
    const pressed = await showWarning(afterPrefix(`${sentence} ${message}`), ...labels);
    const remedy = useful.find((each) => REMEDY_LABELS[each] === pressed);
    if (pressed === SET_UP) {
      await vscode.commands.executeCommand("tark.client.chat"); // with the card that sets a model up
    } else if (remedy === "again") {
      await again();
    } else if (remedy !== undefined) {
      await vscode.commands.executeCommand(REMEDY_COMMANDS[remedy], remedy === "setKey" ? this.model?.split("/", 1)[0] : undefined);
    }
  }

  /** The model of the current session. */
  private get model(): string | undefined {
    const { sessions, sessionId, settings } = this.server.state;
    return sessions.get(sessionId ?? "")?.model ?? settings?.model ?? undefined;
  }
}

async function gitApi(): Promise<GitApi> {
  const extension = vscode.extensions.getExtension<GitExtension>("vscode.git");
  const git = await extension?.activate();
  if (git?.enabled !== true) {
    throw new Error("Git is not enabled in this window");
  }
  return git.getAPI(1);
}

/** Undefined: the user chose none. */
async function chooseRepository(git: GitApi, root: vscode.Uri | undefined): Promise<Repository | undefined> {
  const near = root ?? vscode.window.activeTextEditor?.document.uri;
  const found = near === undefined ? null : git.getRepository(near);
  const [first, ...others] = git.repositories;
  if (found !== null || others.length === 0) {
    if (found === null && first === undefined) {
      throw new Error("there is no Git repository in this window");
    }
    return found ?? first;
  }
  const rows = git.repositories.map((repository) => ({ label: listRow(repository.rootUri.fsPath), repository }));
  return (await vscode.window.showQuickPick(rows, { title: "Select Repository" }))?.repository;
}
