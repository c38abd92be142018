/** The chat in the side bar: posts the state to its page, and handles the page's messages. */

import * as vscode from "vscode";
import { reportErrors } from "../window/notify";
import type { ChatDependencies } from "./dependencies";
import { PromptCompletion } from "./completion";
import { Conversation } from "./conversation";
import { PromptDraft } from "./promptDraft";
import { Attachments } from "./attachments";
import { contextParts, type PromptContext } from "./attached";
import { folderUris } from "./editors";
import { pageHtml } from "./html";
import { PageConnection } from "./pageConnection";
import type { ToHost } from "./messages";
import { pageRequests, type PageHandlers, type ViewRequest } from "./pageRequests";
import { Outbox, type OutgoingMessage, type OutboxActions } from "./outbox";
import { slashRows } from "./slashCommands";
import { SessionList } from "./sessionList";
import { inputRow, permissionRow, statusOf } from "./pageRows";

const VIEW = "tark.chat";
const SESSION = "tark.chat.session"; // workspace state: the session that was shown last

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private readonly page = new PageConnection();
  private readonly outbox: Outbox;
  private readonly conversation: Conversation;
  private readonly list: SessionList;
  private readonly draft: PromptDraft;
  private readonly completion: PromptCompletion;
  private readonly attachments: Attachments;
  private readonly handlers: PageHandlers;
  private readonly disposables: vscode.Disposable[] = [];
  private readonly pageDisposables: vscode.Disposable[] = [];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly dependencies: ChatDependencies,
  ) {
    const { state } = dependencies.server;
    const memory = context.workspaceState;
    this.draft = new PromptDraft(memory);
    this.completion = new PromptCompletion(dependencies.server);
    this.attachments = new Attachments(dependencies.server, (message) => this.page.post(message));
    this.list = new SessionList(dependencies, this.page);
    this.outbox = new Outbox(
      this.outboxActions(),
      () => this.page.post({ kind: "sending", turns: this.outbox.heads }),
      (message, problem, sent) => this.returnMessage(message, problem, sent),
    );
    this.conversation = new Conversation(dependencies, this.page, () => this.outbox.heads, (sessionId) => void memory.update(SESSION, sessionId));
    this.handlers = { ...pageRequests(dependencies, (message) => this.page.post(message)), ...this.viewRequests() };
    this.disposables.push(
      vscode.window.registerWebviewViewProvider(VIEW, this),
      this.completion,
      this.attachments,
      this.list,
      this.conversation,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.postStatus()),
      ...this.listening(),
    );
    const last = memory.get<string>(SESSION);
    if (state.sessionId === undefined && last !== undefined) {
      state.setCurrentSession(last); // its transcript is loaded when the server runs
    }
  }

  /** Is the chat visible? */
  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  /** Shows the chat. `focus`: focuses the prompt. */
  async showChat({ focus }: { focus: boolean }): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    if (focus) {
      this.page.postWhenOpen({ kind: "focus" });
    }
  }

  /** Shows an empty chat. The next prompt starts a session. */
  async startNewSession(): Promise<void> {
    this.dependencies.server.state.setCurrentSession(undefined);
    await this.showChat({ focus: true });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const { webview } = view;
    const dist = vscode.Uri.joinPath(this.context.extensionUri, "dist");
    const served = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    this.pageDisposables.push(
      webview.onDidReceiveMessage((message: ToHost) => this.handleMessage(message)),
      view.onDidChangeVisibility(() => {
        if (!view.visible) {
          this.pageHidden();
        }
      }),
      view.onDidDispose(() => this.viewDisposed()),
    );
    webview.options = { enableScripts: true, enableCommandUris: false, enableForms: false, localResourceRoots: [dist] };
    webview.html = pageHtml({ cspSource: webview.cspSource, script: served("chat.js"), style: served("chat.css") });
  }

  dispose(): void {
    this.draft.save();
    for (const disposable of [...this.disposables, ...this.pageDisposables]) {
      disposable.dispose();
    }
  }

  private listening(): vscode.Disposable[] {
    const { state } = this.dependencies.server;
    return [
      state.on("update", ({ params, change }) => {
        if (params.sessionId === state.sessionId && (change?.kind === "usage" || change?.kind === "turn")) {
          this.postStatus();
        }
      }),
      state.on("session", () => this.postStatus()),
      state.on("hunks", () => this.postStatus()),
      state.on("server", () => this.postStatus()),
      state.on("permission", () => this.postRequests()),
      state.on("input", () => this.postRequests()),
    ];
  }

  private outboxActions(): OutboxActions {
    const { server, sessions, turns, updates } = this.dependencies;
    return {
      state: server.state,
      takeContext: () => this.attachments.take(),
      start: (prompt, sessionId, { attached, ...place }, kind) =>
        turns.sendPrompt({ prompt, ...(kind && { kind }), ...(sessionId !== undefined && { sessionId }), ...place, ...(attached.length > 0 && { context: contextParts(attached) }) }),
      steer: async (turn, prompt) => {
        const { accepted } = await server.executeCommand<{ accepted: boolean }>("tark.turn.steer", { turnId: turn.turnId, prompt });
        if (accepted) {
          updates.addSteer(turn, prompt);
        }
        return accepted;
      },
      forkBefore: async (sessionId, turnId) => {
        const other = await sessions.forkBefore(sessionId, turnId);
        const { model, mode, approval, thinking } = server.state.sessions.get(sessionId) ?? {};
        const kept = Object.entries({ model, mode, approval, thinking }).filter(([, value]) => value != null);
        await server.executeCommand("tark.settings.set", { ...Object.fromEntries(kept), sessionId: other }); // it can be a new session
        return other;
      },
      newSession: async () => (await server.executeCommand<{ sessionId: string }>("tark.session.new")).sessionId,
    };
  }

  private handleMessage(message: ToHost): void {
    const handle = this.handlers[message.kind] as (message: ToHost) => unknown;
    void reportErrors(() => handle(message));
  }

  private viewRequests(): Pick<PageHandlers, ViewRequest> {
    return {
      ready: () => this.pageReady(),
      send: ({ words, instead }) => this.outbox.addMessage({ words, ...(instead !== undefined && { instead }) }),
      steer: ({ words }) => this.outbox.addMessage({ words, steers: true }),
      draft: ({ words }) => {
        this.draft.text = words;
      },
      earlier: () => this.conversation.showEarlier(),
      fewer: () => this.conversation.showFewer(),
      complete: async ({ id, text, offset }) => {
        const items = await this.completion.completeAt(text, offset).catch(() => []); // typing must not cause error messages
        this.page.post({ kind: "completion", id, items: [...items, ...slashRows(text, offset)] });
      },
      attach: () => this.attachments.choose(),
      attachUris: ({ uris }) => this.attachments.addUris(uris),
      attachData: (file) => this.attachments.addData(file),
      detach: ({ id }) => this.attachments.remove(id),
      sessions: ({ all }) => this.list.listSessions(all),
      session: ({ action, sessionId }) => this.list.runAction(action, sessionId),
    };
  }

  /** The page has loaded: posts the whole state. */
  private pageReady(): void {
    if (this.view === undefined) {
      return;
    }
    this.page.open(this.view.webview);
    this.page.post({ kind: "draft", words: this.draft.text });
    this.attachments.show();
    this.postStatus();
    this.conversation.postTranscript();
    this.postRequests();
    this.page.postKept();
    void this.conversation.loadCurrent();
  }

  private returnMessage({ words, instead }: OutgoingMessage, problem: string, { attached }: PromptContext): void {
    this.attachments.restore(attached);
    this.page.postWhenOpen({ kind: "words", words, ...(instead !== undefined && { instead }) });
    this.page.postWhenOpen({ kind: "say", words: `Not sent: ${problem}. Your text is in the prompt again.` });
  }

  private postStatus(): void {
    const { server } = this.dependencies;
    const now = server.running ? "running" : server.starting ? "starting" : "none";
    this.page.post({ kind: "status", status: statusOf(server.state, now, folderUris()) });
  }

  private postRequests(): void {
    const { permissions, inputs } = this.dependencies.server.state;
    this.page.post({ kind: "waiting", permissions: permissions.map((candidate) => permissionRow(candidate, process.env)), inputs: inputs.map(inputRow) });
  }

  /** VS Code discards the page of a hidden view, and loads it again later. */
  private pageHidden(): void {
    this.page.close();
    this.conversation.pageClosed();
    this.list.pageClosed();
    this.draft.save();
  }

  private viewDisposed(): void {
    this.pageHidden();
    this.view = undefined;
    for (const disposable of this.pageDisposables.splice(0)) {
      disposable.dispose();
    }
  }
}
