/** Questions of the model, and of commands that need words: a box opens only when the person comes to answer. */

import * as vscode from "vscode";
import type { Drafts } from "../turns/drafts";
import { Notice } from "./notice";
import { say, telling } from "../status/notify";
import type { Core } from "../parts";
import type { Input, InputReply } from "../model/protocol";
import { line, short } from "../text/visible";

const LONGEST = 240;
const DECLINE = "Do Not Answer";
const OWN_WORDS = "$(edit) Your own words ...";
const DECLINE_BUTTON: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("circle-slash"), tooltip: DECLINE };
const WORDS_BUTTON: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Your own words" };

export class Inputs implements vscode.Disposable {
  /** By request: what tells of it, if it was not asked at once. */
  private readonly told = new Map<string, Notice | undefined>();
  /** Turns that ask what the person wants just now to be asked. */
  private readonly expected = new Set<string>();
  private box: { readonly requestId: string; readonly shown: vscode.QuickInput } | undefined;
  private readonly owned: vscode.Disposable;

  /** `drafts`: by request, what was typed and not sent. */
  constructor(
    private readonly drafts: Drafts,
    private readonly core: Core,
  ) {
    this.owned = vscode.Disposable.from(core.server.state.on("input", () => this.look()));
    this.look();
    this.offer(drafts.boxes.filter((requestId) => !this.find(requestId))); // of a window that was closed
  }

  /** The person began this turn by something that asks for words: its first question opens by itself. */
  expect(turnId: string): void {
    const request = this.waiting.find((each) => each.turnId === turnId);
    if (request) {
      this.ask(request);
    } else {
      this.expected.add(turnId);
    }
  }

  /** The person comes to answer; without an id the oldest question. */
  show(requestId?: string): Promise<void> {
    const request = requestId === undefined ? this.waiting[0] : this.find(requestId);
    if (request) {
      this.ask(request);
    } else {
      void say(requestId === undefined ? "no question waits" : "that was answered already");
    }
    return Promise.resolve();
  }

  dispose(): void {
    this.box?.shown.dispose();
    this.owned.dispose();
  }

  private get waiting(): readonly Input[] {
    return this.core.server.state.inputs;
  }

  private find(requestId: string): Input | undefined {
    return this.waiting.find((each) => each.requestId === requestId);
  }

  private look(): void {
    for (const [requestId, notice] of [...this.told].filter(([each]) => !this.find(each))) {
      this.told.delete(requestId);
      notice?.dispose();
      this.over(requestId);
    }
    for (const request of this.waiting.filter((each) => !this.told.has(each.requestId))) {
      const isExpected = this.expected.delete(request.turnId);
      this.told.set(request.requestId, isExpected ? undefined : this.tell(request));
      if (isExpected) {
        this.ask(request);
      }
    }
  }

  private tell(request: Input): Notice {
    const text = `${who(request)}: ${short(request.question.trim(), LONGEST)}`;
    const decline = { title: DECLINE, run: () => telling(() => this.answer(request, null)) };
    return new Notice({ text, links: [decline] }, { title: "Answer…", run: () => telling(() => this.show(request.requestId)) });
  }

  /** Nobody asks any more: what was typed is not lost. */
  private over(requestId: string): void {
    if (this.box?.requestId === requestId) {
      this.box.shown.dispose();
      this.box = undefined;
    }
    this.offer([requestId]);
  }

  /** It stays kept until that was seen. */
  private offer(requestIds: readonly string[]): void {
    const draft = requestIds.map((requestId) => this.drafts.of(requestId)).join("\n\n").trim();
    if (draft !== "") {
      void say(`the question is no more; what you wrote is kept: “${short(draft, 40)}”`, "Copy It").then(async (copy) => {
        await (copy && vscode.env.clipboard.writeText(draft));
        requestIds.forEach((requestId) => this.drafts.keep(requestId, ""));
      });
    }
  }

  private ask(request: Input): void {
    this.told.get(request.requestId)?.dispose();
    this.box?.shown.dispose();
    if (request.options.length > 0) {
      this.pick(request);
    } else {
      this.write(request);
    }
  }

  private pick(request: Input): void {
    type Item = vscode.QuickPickItem & { readonly id?: string };
    const pick = vscode.window.createQuickPick<Item>();
    this.dress(pick, request);
    pick.placeholder = line(request.question.trim());
    pick.canSelectMany = request.multiple;
    pick.items = [
      ...request.options.map(({ id, label }) => ({ id, label: line(label) })),
      ...(request.freeText && !request.multiple ? [{ label: OWN_WORDS, alwaysShow: true }] : []),
    ];
    pick.buttons = request.freeText ? [WORDS_BUTTON, DECLINE_BUTTON] : [DECLINE_BUTTON];
    pick.onDidTriggerButton((button) => this.pressed(request, button));
    pick.onDidAccept(() => {
      const ids = pick.selectedItems.flatMap(({ id }) => (id === undefined ? [] : [id]));
      if (ids.length > 0) {
        void telling(() => this.answer(request, ids));
      } else if (!request.multiple && pick.selectedItems.length > 0) {
        this.write(request);
      }
    });
    pick.onDidChangeValue((value) => request.freeText && this.drafts.keep(request.requestId, value));
    pick.show();
  }

  private write(request: Input): void {
    this.box?.shown.dispose();
    const box = vscode.window.createInputBox();
    this.dress(box, request);
    box.prompt = short(request.question.trim(), 1000);
    box.value = this.drafts.of(request.requestId);
    box.buttons = [DECLINE_BUTTON];
    box.onDidTriggerButton((button) => this.pressed(request, button));
    box.onDidChangeValue((value) => this.drafts.keep(request.requestId, value));
    box.onDidAccept(() => {
      if (box.value.trim() !== "") {
        void telling(() => this.answer(request, box.value));
      }
    });
    box.show();
  }

  /** Leaving it leaves the question waiting, in the list of changes and in the chat. */
  private dress(shown: vscode.QuickInput, request: Input): void {
    shown.title = who(request);
    shown.ignoreFocusOut = true;
    this.box = { requestId: request.requestId, shown };
    shown.onDidHide(() => {
      shown.dispose();
      if (this.box?.shown === shown) {
        this.box = undefined;
      }
    });
  }

  private pressed(request: Input, button: vscode.QuickInputButton): void {
    if (button === WORDS_BUTTON) {
      this.write(request);
    } else {
      void telling(() => this.answer(request, null));
    }
  }

  private async answer(request: Input, answer: InputReply["answer"]): Promise<void> {
    const draft = this.drafts.of(request.requestId);
    this.drafts.keep(request.requestId, ""); // it is sent, or given up by the person
    if (!(await this.core.waiting.answer("input", request.requestId, { answer }))) {
      void say("that was answered already");
    } else if (draft !== "" && answer === null) {
      void say("what you had written is not sent", "Copy It").then((copy) => copy && vscode.env.clipboard.writeText(draft));
    }
    if (this.box?.requestId === request.requestId) {
      this.box.shown.dispose();
      this.box = undefined;
    }
  }
}

/** What a model asks must not look as if Tark did: it may want what only Tark would be told. */
function who({ byModel }: Input): string {
  return byModel === true ? "The model asks" : "Tark asks";
}
