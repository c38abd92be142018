/** Questions of the model, and of commands that need text. An input box opens only when the user comes to answer. */

import * as vscode from "vscode";
import type { ShownChat } from "./permissions";
import type { Drafts } from "../window/drafts";
import { Notice } from "./notice";
import { showInfo, reportErrors } from "../window/notify";
import type { PendingRequests } from "../model/pendingRequests";
import type { State } from "../model/state";
import type { Input, InputReply } from "../model/protocol";
import { inputPrompt, listRow, plainExcerpt, plainLine } from "../text/surfaces";

const LONGEST = 240;
const DECLINE = "Decline to Answer";
const OWN_WORDS = "$(edit) Other Answer…";
const DECLINE_BUTTON: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("circle-slash"), tooltip: DECLINE };
const WORDS_BUTTON: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Other Answer" };

export class Inputs implements vscode.Disposable {
  /** Notifications by request id. Undefined if the chat shows the question, or the box was opened at once. */
  private readonly notices = new Map<string, Notice | undefined>();
  /** Turns whose first question opens a box at once. */
  private readonly expected = new Set<string>();
  /** Requests that the chat showed at the last check. */
  private readonly inChat = new Set<string>();
  private box: { readonly requestId: string; readonly shown: vscode.QuickInput } | undefined;
  private readonly owned: vscode.Disposable;

  /** `drafts`: by request id, what was typed and not sent. */
  constructor(
    private readonly drafts: Drafts,
    private readonly state: State,
    private readonly pending: PendingRequests,
    private readonly chat: ShownChat,
  ) {
    const update = (): void => this.update();
    this.owned = vscode.Disposable.from(state.on("input", update), state.on("session", update), chat.onDidChangeVisibility(update));
    this.update();
    this.offerCopy(drafts.boxes.filter((requestId) => !this.findInput(requestId))); // from a window that was closed
  }

  /** The user started this turn with an action that asks for text, so its first question opens at once. */
  expectInput(turnId: string): void {
    const request = this.waiting.find((candidate) => candidate.turnId === turnId);
    if (request) {
      this.openInput(request);
    } else {
      this.expected.add(turnId);
    }
  }

  /** Opens a question for the user's answer. Without an id, the oldest one. */
  showInput(requestId?: string): Promise<void> {
    const request = requestId === undefined ? this.waiting[0] : this.findInput(requestId);
    if (request) {
      this.openInput(request);
    } else {
      void showInfo(requestId === undefined ? "no question is waiting" : "this was already answered");
    }
    return Promise.resolve();
  }

  dispose(): void {
    this.box?.shown.dispose();
    this.owned.dispose();
  }

  private get waiting(): readonly Input[] {
    return this.state.inputs;
  }

  private findInput(requestId: string): Input | undefined {
    return this.waiting.find((candidate) => candidate.requestId === requestId);
  }

  private update(): void {
    for (const [requestId, notice] of [...this.notices].filter(([id]) => !this.findInput(id))) {
      this.notices.delete(requestId);
      this.inChat.delete(requestId);
      notice?.dispose();
      this.inputEnded(requestId);
    }
    for (const request of this.waiting) {
      this.announce(request);
    }
  }

  /** Asks in a notification, unless the chat asks, or a box opens at once. */
  private announce(request: Input): void {
    const { requestId } = request;
    if (this.expected.delete(request.turnId)) {
      this.notices.set(requestId, undefined);
      this.openInput(request);
    } else if (this.chat.shows(request.sessionId)) {
      this.notices.get(requestId)?.dispose();
      this.notices.set(requestId, undefined);
      this.inChat.add(requestId);
    } else if (this.inChat.delete(requestId) || !this.notices.has(requestId)) {
      this.notices.set(requestId, this.notify(request));
    }
  }

  private notify(request: Input): Notice {
    const text = `${asker(request)}: ${plainExcerpt(request.question.trim(), LONGEST)}`;
    const decline = { title: DECLINE, run: () => reportErrors(() => this.answer(request, null)) };
    const answer = { title: "Answer…", run: () => reportErrors(() => this.showInput(request.requestId)), onlyShows: true };
    return new Notice({ text, links: [decline] }, answer);
  }

  /** The request has ended: what was typed is kept. */
  private inputEnded(requestId: string): void {
    if (this.box?.requestId === requestId) {
      this.box.shown.dispose();
      this.box = undefined;
    }
    this.offerCopy([requestId]);
  }

  /** The draft stays until the user has seen the notification. */
  private offerCopy(requestIds: readonly string[]): void {
    const draft = requestIds.map((requestId) => this.drafts.draftOf(requestId)).join("\n\n").trim();
    if (draft !== "") {
      void showInfo(`the question has ended; your text is kept: “${plainExcerpt(draft, 40)}”`, "Copy Text").then(async (copy) => {
        await (copy && vscode.env.clipboard.writeText(draft));
        requestIds.forEach((requestId) => this.drafts.saveDraft(requestId, ""));
      });
    }
  }

  private openInput(request: Input): void {
    this.notices.get(request.requestId)?.dispose();
    this.box?.shown.dispose();
    if (request.options.length > 0) {
      this.openPicker(request);
    } else {
      this.openTextBox(request);
    }
  }

  private openPicker(request: Input): void {
    type Item = vscode.QuickPickItem & { readonly id?: string };
    const pick = vscode.window.createQuickPick<Item>();
    this.prepareBox(pick, request);
    pick.placeholder = plainLine(request.question.trim());
    pick.canSelectMany = request.multiple;
    pick.items = [
      ...request.options.map(({ id, label }) => ({ id, label: listRow(label) })),
      ...(request.freeText && !request.multiple ? [{ label: OWN_WORDS, alwaysShow: true }] : []),
    ];
    pick.buttons = request.freeText ? [WORDS_BUTTON, DECLINE_BUTTON] : [DECLINE_BUTTON];
    pick.onDidTriggerButton((button) => this.buttonPressed(request, button));
    pick.onDidAccept(() => {
      const ids = pick.selectedItems.flatMap(({ id }) => (id === undefined ? [] : [id]));
      if (ids.length > 0) {
        void reportErrors(() => this.answer(request, ids));
      } else if (!request.multiple && pick.selectedItems.length > 0) {
        this.openTextBox(request);
      }
    });
    pick.onDidChangeValue((value) => request.freeText && this.drafts.saveDraft(request.requestId, value));
    pick.show();
  }

  private openTextBox(request: Input): void {
    this.box?.shown.dispose();
    const box = vscode.window.createInputBox();
    this.prepareBox(box, request);
    box.prompt = inputPrompt(plainExcerpt(request.question.trim(), 1000));
    box.value = this.drafts.draftOf(request.requestId);
    box.buttons = [DECLINE_BUTTON];
    box.onDidTriggerButton((button) => this.buttonPressed(request, button));
    box.onDidChangeValue((value) => this.drafts.saveDraft(request.requestId, value));
    box.onDidAccept(() => {
      if (box.value.trim() !== "") {
        void reportErrors(() => this.answer(request, box.value));
      }
    });
    box.show();
  }

  /** If the user leaves the box, the question stays in the list of changes and in the chat. */
  private prepareBox(shown: vscode.QuickInput, request: Input): void {
    shown.title = asker(request);
    shown.ignoreFocusOut = true;
    this.box = { requestId: request.requestId, shown };
    shown.onDidHide(() => {
      shown.dispose();
      if (this.box?.shown === shown) {
        this.box = undefined;
      }
    });
  }

  private buttonPressed(request: Input, button: vscode.QuickInputButton): void {
    if (button === WORDS_BUTTON) {
      this.openTextBox(request);
    } else {
      void reportErrors(() => this.answer(request, null));
    }
  }

  private async answer(request: Input, answer: InputReply["answer"]): Promise<void> {
    const draft = this.drafts.draftOf(request.requestId);
    this.drafts.saveDraft(request.requestId, ""); // it is sent, or the user declined to answer
    if (!(await this.pending.answerRequest("input", request.requestId, { answer }))) {
      void showInfo("this was already answered");
    } else if (draft !== "" && answer === null) {
      void showInfo("your text was not sent", "Copy Text").then((copy) => copy && vscode.env.clipboard.writeText(draft));
    }
    if (this.box?.requestId === request.requestId) {
      this.box.shown.dispose();
      this.box = undefined;
    }
  }
}

/** A question of the model must not look like a question of Tark, because the model could ask for secrets. */
function asker({ byModel }: Input): string {
  return byModel === true ? "The model asks" : "Tark asks";
}
