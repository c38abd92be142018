/**
 * Permissions that Tark asks for. Each request appears in one place: in the chat if it shows the session, else in a
 * notification, which does not take the focus. The whole request is shown on demand.
 */

import * as vscode from "vscode";
import { RequestDocuments, REQUEST_SCHEME } from "./requestDocuments";
import { Notice, type NoticeContent } from "./notice";
import { showInfo, reportErrors } from "../window/notify";
import type { PendingRequests } from "../model/pendingRequests";
import type { State } from "../model/state";
import { codeLensTitle, listRow, plainLine } from "../text/surfaces";
import { allowing, grantAnswers, grantReplies, permissionAnswers, type Answer, type FollowUp } from "./permissionAnswers";
import { SettledVersions } from "./settledVersions";
import { permissionMessage, mustBeShown, requestVersion, fullText } from "./permissionText";
import type { Permission, PermissionReply } from "../model/protocol";
import { hasTab, relativeName } from "../window/files";

const REJECT: Answer = { kind: "reply", title: "Reject", reply: { outcome: "reject" } };
/** Edits have buttons in the editor, so their notification closes after this time. */
const EDITS_TOLD_MS = 15_000;

/** The chat, which asks about the requests of the session that it shows. */
export interface ShownChat {
  shows(sessionId: string): boolean;
  onDidChangeVisibility(listener: () => void): vscode.Disposable;
}

export class Permissions implements vscode.Disposable, vscode.CodeLensProvider {
  /** By request id: the notification, and the version it shows. */
  private readonly notices = new Map<string, { readonly version: string; readonly digest: string; readonly notice: Notice }>();
  private readonly documents = new RequestDocuments();
  private readonly versions = new SettledVersions();
  private readonly lenses = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lenses.event;
  private readonly owned: vscode.Disposable;

  constructor(
    private readonly state: State,
    private readonly pending: PendingRequests,
    private readonly chat: ShownChat,
  ) {
    this.owned = vscode.Disposable.from(
      state.on("permission", () => this.update()),
      state.on("session", () => this.update()),
      chat.onDidChangeVisibility(() => this.update()),
      Notice.register(),
      this.documents,
      this.documents.onDidRead(() => this.lenses.fire()),
      this.lenses,
      vscode.languages.registerCodeLensProvider({ scheme: REQUEST_SCHEME }, this),
      vscode.commands.registerCommand("tark.client.answerPermission", (version: string, answer: Answer, wasSeen?: boolean) =>
        reportErrors(() => this.submitAnswer(version, answer, wasSeen)),
      ),
    );
    this.update();
  }

  /** Shows the whole request and its possible answers. Without an id, the oldest one. */
  async showPermission(requestId?: string): Promise<void> {
    const request = requestId === undefined ? this.waiting[0] : this.findPermission(requestId);
    if (!request) {
      void showInfo(requestId === undefined ? "no permission request is waiting" : "this was already answered");
      return;
    }
    this.notices.get(request.requestId)?.notice.dispose();
    await this.documents.showDocument(request.requestId, textOf(request), request.edits?.length ? "diff" : "txt");
  }

  /** Above the first line, and in a long document also at the last line. */
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const request = this.findPermission(document.uri.query);
    if (!request) {
      return [];
    }
    const version = requestVersion(request);
    const lens = (line: number, answer: Answer): vscode.CodeLens =>
      new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
        title: codeLensTitle(answer.title),
        command: "tark.client.answerPermission",
        arguments: [version, answer],
      });
    const ends = document.lineCount > 30 ? [0, document.lineCount - 1] : [0];
    return ends.flatMap((line) => permissionAnswers(request, this.canAllow(request)).map((answer) => lens(line, answer)));
  }

  dispose(): void {
    this.owned.dispose();
  }

  private get waiting(): readonly Permission[] {
    return this.state.permissions;
  }

  private findPermission(requestId: string): Permission | undefined {
    return this.waiting.find((candidate) => candidate.requestId === requestId);
  }

  /** Updates notifications and documents after the pending requests changed. */
  private update(): void {
    this.versions.note(this.waiting.map(requestVersion));
    for (const requestId of this.documents.requestIds.filter((id) => !this.findPermission(id))) {
      this.notices.get(requestId)?.notice.dispose();
      this.notices.delete(requestId);
      void this.documents.closeDocument(requestId);
    }
    for (const request of this.waiting) {
      this.documents.setText(request.requestId, textOf(request));
      this.announce(request);
    }
    this.lenses.fire();
  }

  /** Shows or updates the notification, if the chat does not ask. */
  private announce(request: Permission): void {
    const { requestId, digest } = request;
    const former = this.notices.get(requestId);
    const version = requestVersion(request);
    if (this.chat.shows(request.sessionId)) {
      former?.notice.dispose();
      this.notices.delete(requestId);
    } else if (former?.version !== version) {
      const isSame = former?.digest === digest; // no new notification while the user decides hunk by hunk
      const notice = isSame ? former.notice : this.notify(request);
      if (isSame) {
        notice.setContent(this.noticeContent(request, false));
      } else {
        former?.notice.dispose();
      }
      this.notices.set(requestId, { version, digest, notice });
    }
  }

  private notify(request: Permission): Notice {
    const version = requestVersion(request);
    const [first] = allowing(request);
    const allow = { title: first.title, run: () => reportErrors(() => this.submitAnswer(version, { kind: "reply", ...first })) };
    const notice = new Notice(this.noticeContent(request, this.notices.has(request.requestId)), allow);
    if (request.edits?.length) {
      setTimeout(() => notice.dispose(), EDITS_TOLD_MS);
    }
    return notice;
  }

  /** `again`: its hunks were edited since the last notification. */
  private noticeContent(request: Permission, again: boolean): NoticeContent {
    const version = requestVersion(request);
    const others = allowing(request).slice(1).map((answer): Answer => ({ kind: "reply", ...answer }));
    const lists = grantAnswers(request).filter(({ kind }) => kind === "grants"); // a notification has no room for more
    return {
      text: `${permissionMessage(request, relativeName)}${again ? " (changed)" : ""}`,
      links: [
        ...[...others, ...lists, REJECT].map((answer) => ({ title: answer.title, run: () => reportErrors(() => this.submitAnswer(version, answer)) })),
        { title: "Show", run: () => reportErrors(() => this.showPermission(request.requestId)) },
      ],
    };
  }

  /** Answers only the version that was shown, never one that has replaced it. `wasSeen`: the chat showed it in full. */
  private async submitAnswer(version: string, answer: Answer, wasSeen = false): Promise<void> {
    const request = this.findVersion(version);
    if (!request) {
      await this.showChanged(version);
    } else if (answer.kind !== "reply") {
      await this.followUp(answer.kind, request, version);
    } else if (answer.reply.outcome === "allow" && !wasSeen && !this.versions.isSettled(version)) {
      void showInfo("the request has just appeared or changed: review it first"); // the chat has its own pause
    } else if (answer.reply.outcome === "allow" && !wasSeen && !this.canAllow(request)) {
      await this.showPermission(request.requestId);
      void showInfo("read the request to its end first");
    } else {
      await this.answer(request, answer.reply);
    }
  }

  private followUp(kind: FollowUp["kind"], request: Permission, version: string): Promise<void> {
    const steps = {
      hunks: () => this.goToHunks(request),
      because: () => this.rejectBecause(version),
      grants: () => this.chooseGrant(request, version),
    };
    return steps[kind]();
  }

  /** A grant counts only for the version that the list was opened for. */
  private async chooseGrant(request: Permission, version: string): Promise<void> {
    const items = grantReplies(request).map((answer) => ({ label: listRow(answer.title), answer }));
    const chosen = await vscode.window.showQuickPick(items, { title: "Allow for Longer", placeHolder: plainLine(request.title) });
    if (chosen !== undefined) {
      await this.submitAnswer(version, chosen.answer);
    }
  }

  private async rejectBecause(version: string): Promise<void> {
    const reason = await vscode.window.showInputBox({ title: "Reason for Rejecting", ignoreFocusOut: true });
    const request = this.findVersion(version);
    if (reason === undefined) {
      return;
    }
    if (request) {
      await this.answer(request, { outcome: "reject", ...(reason.trim() === "" ? {} : { reason }) });
    } else if ((await showInfo("the request was changed or answered meanwhile; your text is kept", "Copy Text")) !== undefined) {
      await vscode.env.clipboard.writeText(reason);
    }
  }

  private async answer(request: Permission, reply: PermissionReply): Promise<void> {
    if (!(await this.pending.answerRequest("permission", request.requestId, reply))) {
      void showInfo("this was already answered");
    }
  }

  private async goToHunks(request: Permission): Promise<void> {
    const open = (request.edits ?? []).flatMap(({ hunks }) => hunks.filter((hunk) => hunk.state === "pending"));
    if (open[0]) {
      await vscode.commands.executeCommand("tark.client.openHunk", { hunkId: open[0].hunkId });
    } else {
      void showInfo("all changes of this request are decided or in conflict");
    }
  }

  private async showChanged(version: string): Promise<void> {
    const request = this.waiting.find((candidate) => version.startsWith(`${candidate.requestId} `));
    if (!request) {
      void showInfo("this was already answered");
      return;
    }
    await this.showPermission(request.requestId);
    void showInfo("the request has changed meanwhile: review it again");
  }

  private findVersion(version: string): Permission | undefined {
    return this.waiting.find((candidate) => requestVersion(candidate) === version);
  }

  private canAllow(request: Permission): boolean {
    return !mustBeShown(request, hasTab, relativeName) || this.documents.wasRead(request.requestId, textOf(request));
  }
}

function textOf(request: Permission): string {
  return fullText(request, relativeName, process.env);
}
