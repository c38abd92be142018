/** Goes back to the state before an earlier prompt: the session continues in a fork, with or without restoring files. */

import * as vscode from "vscode";
import type { Server } from "../model/server";
import type { Sessions } from "../model/sessions";
import { promptMessages, type OpenedSession } from "../model/storedSession";
import { listRow } from "../text/surfaces";
import { relativeName } from "../window/files";
import { chooseAction, showInfo, showWarning } from "../window/notify";
import { describeOutcome, type UndoAnswer } from "./undoOutcome";

const FILES = "Restore Chat and Files";
const CHAT = "Restore Chat Only";
const MOST_NAMED = 10; // files in the dialog

/** The answer of `tark.session.restore`; a preview has no `session`. */
export interface RestoreAnswer extends UndoAnswer {
  readonly session?: { readonly sessionId: string };
  readonly prompt: string;
  readonly turns: readonly string[];
  readonly changedByCommand: readonly string[];
}

export class Restore {
  constructor(
    private readonly server: Server,
    private readonly sessions: Sessions,
  ) {}

  /** Asks first. Resolves with the prompt, for the prompt box; undefined: the user left it. */
  async restoreTo(sessionId: string, turnId: string): Promise<string | undefined> {
    const { place } = this.server.state; // the user can go to another chat meanwhile
    const { messages } = await this.openStored(sessionId);
    const messageId = promptMessages(messages).find((message) => (message.turnId || message.messageId) === turnId)?.messageId;
    if (messageId === undefined) {
      throw new Error("the session no longer contains that prompt");
    }
    const foreseen = await this.request({ sessionId, messageId, files: true, preview: true });
    const choices = foreseen.restored.length > 0 ? [FILES, CHAT] : [CHAT];
    const choice = await chooseAction("Go back to before this prompt?", describePreview(foreseen), ...choices);
    if (choice === undefined) {
      return undefined;
    }
    const answer = await this.request({ sessionId, messageId, files: choice === FILES });
    const other = answer.session?.sessionId;
    if (other !== undefined) {
      await this.sessions.openSession(other);
      this.server.state.setCurrentSession(other, place);
    }
    const left = describeOutcome({ verb: "undid", prompt: "", restored: [], kept: answer.kept }, relativeName);
    if (left !== undefined) {
      void showWarning(left.message);
    }
    return answer.prompt;
  }

  /** Lets the user choose the prompt. */
  async choosePrompt(): Promise<string | undefined> {
    const { sessionId } = this.server.state;
    const prompts = sessionId === undefined ? [] : promptMessages((await this.openStored(sessionId)).messages);
    if (sessionId === undefined || prompts.length === 0) {
      void showInfo("this session has no prompt to go back to");
      return undefined;
    }
    const items = prompts.map(({ text, turnId, messageId = "" }) => ({ label: listRow(text.split("\n", 1)[0] ?? ""), turnId: turnId || messageId })).toReversed();
    const chosen = await vscode.window.showQuickPick(items, { title: "Restore to an Earlier Prompt", placeHolder: "Go back to before which prompt?" });
    return chosen && this.restoreTo(sessionId, chosen.turnId);
  }

  private openStored(sessionId: string): Promise<OpenedSession> {
    return this.server.executeCommand<OpenedSession>("tark.session.open", { sessionId });
  }

  private request(argument: object): Promise<RestoreAnswer> {
    return this.server.executeCommand<RestoreAnswer>("tark.session.restore", argument);
  }
}

function describePreview({ restored, kept, changedByCommand }: RestoreAnswer): string {
  const lists: readonly (readonly [words: string, uris: readonly string[]])[] = [
    ["Files to restore", restored],
    ["Files that stay as they are, because they were changed since", kept.map(({ uri }) => uri)],
    ["Files changed by commands, which are not restored", changedByCommand],
  ];
  const lines = lists.filter(([, uris]) => uris.length > 0).map(([words, uris]) => `${words}: ${namesOf(uris)}.`);
  return ["The session goes on in a fork, and this one stays as it is. The prompt is put back into the prompt box.", ...lines].join("\n\n");
}

function namesOf(uris: readonly string[]): string {
  const more = uris.length > MOST_NAMED ? ` and ${uris.length - MOST_NAMED} more` : "";
  return `${uris.slice(0, MOST_NAMED).map(relativeName).join(", ")}${more}`;
}
