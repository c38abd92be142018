/**
 * What Tark may do only if the person allows it: told in a notification without the focus, shown whole on demand, and
 * answered once. What is not answered waits in the list of changes, in the chat and behind the status item.
 */

import * as vscode from "vscode";
import { AskedDocuments, SCHEME } from "./askedDocuments";
import { say, telling } from "./notify";
import type { Core } from "./parts";
import { answers, type Answer } from "./permissionAnswers";
import { decided, message, mustBeShown, versionOf, whole } from "./permissionText";
import type { Permission, PermissionReply } from "./protocol";
import { openDocument } from "./review/documents";
import { nameOf } from "./review/files";

const SHOW = "Show";
const REJECT = "Reject";
const ALLOW = "Allow...";
const LOUD = new Set(["risky", "dangerous"]);

export class Permissions implements vscode.Disposable, vscode.CodeLensProvider {
  /** By request: what the person was told of it last. */
  private readonly told = new Map<string, string>();
  private readonly documents = new AskedDocuments();
  private readonly lenses = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lenses.event;
  private readonly owned: vscode.Disposable;

  constructor(
    _context: vscode.ExtensionContext,
    private readonly core: Core,
  ) {
    this.owned = vscode.Disposable.from(
      core.server.state.on("permission", () => this.look()),
      this.documents,
      this.documents.onDidRead(() => this.lenses.fire()),
      this.lenses,
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.commands.registerCommand("tark.client.answerPermission", (version: string, answer: Answer) =>
        telling(() => this.take(version, answer)),
      ),
    );
    this.look();
  }

  /** The person comes to answer: all of it, with what can be said to it. Without an id the oldest. */
  async show(requestId?: string): Promise<void> {
    const request = requestId === undefined ? this.waiting[0] : this.find(requestId);
    if (!request) {
      void say(requestId === undefined ? "nothing waits for a permission" : "that was answered already");
      return;
    }
    await this.documents.show(request.requestId, textOf(request), request.edits?.length ? "diff" : "txt");
  }

  /** Above its first line, and below its last one for who has read it. */
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const request = this.find(document.uri.query);
    if (!request) {
      return [];
    }
    const version = versionOf(request);
    const lens = (line: number, answer: Answer): vscode.CodeLens =>
      new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
        title: answer.title,
        command: "tark.client.answerPermission",
        arguments: [version, answer],
      });
    const ends = document.lineCount > 30 ? [0, document.lineCount - 1] : [0];
    return ends.flatMap((line) => answers(request, this.canAllow(request)).map((answer) => lens(line, answer)));
  }

  dispose(): void {
    this.owned.dispose();
  }

  private get waiting(): readonly Permission[] {
    return this.core.server.state.permissions;
  }

  private find(requestId: string): Permission | undefined {
    return this.waiting.find((each) => each.requestId === requestId);
  }

  /** What waits is something else now. */
  private look(): void {
    for (const requestId of [...this.told.keys()]) {
      if (!this.find(requestId)) {
        this.told.delete(requestId);
        void this.documents.drop(requestId);
      }
    }
    for (const request of this.waiting) {
      const [, all] = decided(request.edits ?? []);
      const former = this.told.get(request.requestId);
      this.told.set(request.requestId, request.digest);
      if (former !== request.digest) {
        void telling(() => this.tell(request, former !== undefined && all > 0));
      }
      if (former !== undefined) {
        this.documents.keep(request.requestId, textOf(request));
      }
    }
    this.lenses.fire();
  }

  /** `again`: its hunks were edited since. */
  private async tell(request: Permission, again: boolean): Promise<void> {
    const version = versionOf(request);
    const buttons = this.canAllow(request) ? [SHOW, REJECT, ALLOW] : [SHOW, REJECT];
    const { showInformationMessage, showWarningMessage } = vscode.window;
    const ask = LOUD.has(request.risk) ? showWarningMessage : showInformationMessage;
    const chosen = await ask(`${message(request, nameOf)}${again ? " (edited since)" : ""}`, ...buttons);
    if (chosen === SHOW) {
      await this.show(request.requestId);
    } else if (chosen === REJECT) {
      await this.take(version, { kind: "reply", title: REJECT, reply: { outcome: "reject" } });
    } else if (chosen === ALLOW) {
      await this.choose(version);
    }
  }

  /** What is covered is named once more before it is allowed. */
  private async choose(version: string): Promise<void> {
    const request = this.ofVersion(version);
    if (request) {
      const items = answers(request, this.canAllow(request)).map((answer) => ({ label: answer.title, answer }));
      const placeHolder = message(request, nameOf);
      const chosen = await vscode.window.showQuickPick(items, { title: "Tark asks", placeHolder, ignoreFocusOut: true });
      await (chosen && this.take(version, chosen.answer));
    }
  }

  /** Only what was shown is answered, never what came in its place meanwhile. */
  private async take(version: string, answer: Answer): Promise<void> {
    const request = this.ofVersion(version);
    if (!request) {
      await this.changedSince(version);
    } else if (answer.kind !== "reply") {
      await (answer.kind === "hunks" ? this.goToHunks(request) : this.rejectBecause(version));
    } else if (answer.reply.outcome === "allow" && !this.canAllow(request)) {
      await this.show(request.requestId);
      void say("read it to its end first");
    } else {
      await this.answer(request, answer.reply);
    }
  }

  private async rejectBecause(version: string): Promise<void> {
    const reason = await vscode.window.showInputBox({ title: "Tark: reject, because ...", ignoreFocusOut: true });
    const request = this.ofVersion(version);
    if (reason === undefined) {
      return;
    }
    if (request) {
      await this.answer(request, { outcome: "reject", ...(reason.trim() === "" ? {} : { reason }) });
    } else if ((await say("it was changed or answered meanwhile; your words are kept", "Copy Them")) !== undefined) {
      await vscode.env.clipboard.writeText(reason);
    }
  }

  private async answer(request: Permission, reply: PermissionReply): Promise<void> {
    if (!(await this.core.waiting.answer("permission", request.requestId, reply))) {
      void say("that was answered already");
    }
  }

  private async goToHunks(request: Permission): Promise<void> {
    const open = (request.edits ?? []).flatMap(({ hunks }) => hunks.filter((hunk) => hunk.state === "pending"));
    await vscode.commands.executeCommand("tark.client.openHunk", { hunkId: open[0]?.hunkId });
  }

  private async changedSince(version: string): Promise<void> {
    const request = this.waiting.find((each) => version.startsWith(`${each.requestId} `));
    if (!request) {
      void say("that was answered already");
      return;
    }
    await this.show(request.requestId);
    void say("what is asked has changed meanwhile: look again");
  }

  private ofVersion(version: string): Permission | undefined {
    return this.waiting.find((each) => versionOf(each) === version);
  }

  private canAllow(request: Permission): boolean {
    const isOpen = (uri: string): boolean => openDocument(vscode.Uri.parse(uri).toString()) !== undefined;
    return !mustBeShown(request, isOpen, nameOf) || this.documents.wasRead(request.requestId, textOf(request));
  }
}

function textOf(request: Permission): string {
  return whole(request, nameOf, process.env);
}
