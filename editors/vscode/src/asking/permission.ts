/**
 * What Tark may do only if the person allows it: told in a notification without the focus, shown whole on demand, and
 * answered once. What is not answered waits in the list of changes, in the chat and behind the status item.
 */

import * as vscode from "vscode";
import { AskedDocuments, SCHEME } from "./askedDocuments";
import { Notice, type Said } from "./notice";
import { say, telling } from "../status/notify";
import type { Core } from "../parts";
import { answers, type Answer } from "./permissionAnswers";
import { message, mustBeShown, versionOf, whole } from "./permissionText";
import type { Permission, PermissionReply } from "../model/protocol";
import { isInTab, nameOf } from "../review/files";

const REJECT: Answer = { kind: "reply", title: "Reject", reply: { outcome: "reject" } };
/** Edits have their own buttons in the editor: what tells of them is out of the way after a while. */
const EDITS_TOLD_MS = 15_000;

export class Permissions implements vscode.Disposable, vscode.CodeLensProvider {
  /** By request: what the person was told of it last, and where. */
  private readonly told = new Map<string, { readonly version: string; readonly digest: string; readonly notice: Notice }>();
  private readonly documents = new AskedDocuments();
  private readonly lenses = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lenses.event;
  private readonly owned: vscode.Disposable;

  constructor(private readonly core: Core) {
    this.owned = vscode.Disposable.from(
      core.server.state.on("permission", () => this.look()),
      Notice.register(),
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
    this.told.get(request.requestId)?.notice.dispose();
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
    for (const [requestId, { notice }] of [...this.told]) {
      if (!this.find(requestId)) {
        this.told.delete(requestId);
        notice.dispose();
        void this.documents.drop(requestId);
      }
    }
    for (const request of this.waiting) {
      const former = this.told.get(request.requestId);
      const version = versionOf(request);
      if (former?.version !== version) {
        const isSame = former?.digest === request.digest; // who decides hunk by hunk is not told of it again
        const notice = isSame ? former.notice : this.tell(request);
        if (isSame) {
          notice.tell(this.said(request, false));
        } else {
          former?.notice.dispose();
        }
        this.told.set(request.requestId, { version, digest: request.digest, notice });
        this.documents.keep(request.requestId, textOf(request));
      }
    }
    this.lenses.fire();
  }

  private tell(request: Permission): Notice {
    const { requestId } = request;
    const choose = { title: "Answer…", run: () => telling(() => this.choose(requestId)) };
    const notice = new Notice(this.said(request, this.told.has(requestId)), choose);
    if (request.edits?.length) {
      setTimeout(() => notice.dispose(), EDITS_TOLD_MS);
    }
    return notice;
  }

  /** `again`: its hunks were edited since. */
  private said(request: Permission, again: boolean): Said {
    const version = versionOf(request);
    return {
      text: `${message(request, nameOf)}${again ? " (changed since)" : ""}`,
      links: [
        { title: "Show", run: () => telling(() => this.show(request.requestId)) },
        { title: REJECT.title, run: () => telling(() => this.take(version, REJECT)) },
      ],
    };
  }

  /** What is covered is named once more before it is allowed; nothing is allowed by Enter alone. */
  private async choose(requestId: string): Promise<void> {
    const request = this.find(requestId);
    if (!request) {
      await this.show(requestId); // says that it was answered
      return;
    }
    const version = versionOf(request);
    const items: (vscode.QuickPickItem & { readonly answer?: Answer })[] = [
      { label: "$(eye) Show It Whole" },
      ...answers(request, this.canAllow(request)).map((answer) => ({ label: answer.title, answer })),
    ];
    const placeHolder = message(request, nameOf);
    const chosen = await vscode.window.showQuickPick(items, { title: "Tark asks", placeHolder, ignoreFocusOut: true });
    if (chosen) {
      await (chosen.answer ? this.take(version, chosen.answer) : this.show(request.requestId));
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
    if (open[0]) {
      await vscode.commands.executeCommand("tark.client.openHunk", { hunkId: open[0].hunkId });
    } else {
      void say("each of its changes is decided, or in conflict");
    }
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
    return !mustBeShown(request, isInTab, nameOf) || this.documents.wasRead(request.requestId, textOf(request));
  }
}

function textOf(request: Permission): string {
  return whole(request, nameOf, process.env);
}
