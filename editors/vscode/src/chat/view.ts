/** The chat in the side bar: posts the state to its page, and handles the page's messages. */

import * as vscode from "vscode";
import { mustBeShown } from "../asking/permissionText";
import { hasTab, relativeName } from "../window/files";
import { reportErrors } from "../window/notify";
import type { ChatDependencies } from "./dependencies";
import { PromptCompletion } from "./completion";
import { Conversation } from "./conversation";
import { tryAgain } from "./again";
import { takeHeldPrompt } from "./heldPrompt";
import { outboxActions } from "./outboxActions";
import { Retries } from "./retries";
import { PromptDraft } from "./promptDraft";
import type { PromptContext } from "./attached";
import { Attachments } from "./attachments";
import { folderUris } from "./editors";
import { pageHtml } from "./html";
import { PageConnection } from "./pageConnection";
import type { ToHost } from "./messages";
import { pageRequests, type PageHandlers, type ViewRequest } from "./pageRequests";
import { Outbox, type OutgoingMessage } from "./outbox";
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
  private readonly retries: Retries;
  private readonly completion: PromptCompletion;
  private readonly attachments: Attachments;
  private readonly handlers: PageHandlers;
  private readonly disposables: vscode.Disposable[] = [];
  private readonly pageDisposables: vscode.Disposable[] = [];
  private readonly visibility = new vscode.EventEmitter<void>();
  readonly onDidChangeVisibility = this.visibility.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly dependencies: ChatDependencies,
  ) {
    const { state } = dependencies.server;
    const memory = context.workspaceState;
    this.draft = new PromptDraft(memory);
    this.suggestPrompt(takeHeldPrompt(memory));
    this.retries = new Retries((turnId) => this.tryAgain(turnId, "retry"), (turnId) => this.conversation.redrawTurn(turnId));
    this.completion = new PromptCompletion(dependencies.server);
    this.attachments = new Attachments(dependencies.server, (message) => this.page.post(message));
    this.list = new SessionList(dependencies, this.page);
    this.outbox = new Outbox(
      outboxActions(dependencies, memory, this.attachments),
      () => this.page.post({ kind: "sending", turns: this.outbox.heads }),
      (message, problem, sent) => this.returnMessage(message, problem, sent),
    );
    const onSession = (sessionId: string | undefined): void => void memory.update(SESSION, sessionId);
    this.conversation = new Conversation(dependencies, this.page, () => this.outbox.heads, onSession, this.retries);
    this.handlers = { ...pageRequests(dependencies, (message) => this.page.post(message)), ...this.viewRequests() };
    this.disposables.push(
      vscode.window.registerWebviewViewProvider(VIEW, this),
      this.completion,
      this.attachments,
      this.list,
      this.conversation,
      this.retries,
      dependencies.setup.onChange(() => this.postSetup()),
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

  /** Is a session visible in the chat? Then its requests are asked there. */
  shows(sessionId: string): boolean {
    return this.visible && this.dependencies.server.state.sessionId === sessionId;
  }

  /** Shows the chat. `focus`: focuses the prompt. */
  async showChat({ focus }: { focus: boolean }): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    if (focus) {
      this.page.postWhenOpen({ kind: "focus" });
    }
  }

  /** Shows the chat with these words in the prompt. */
  async giveBack(words: string): Promise<void> {
    await this.showChat({ focus: true });
    this.page.postWhenOpen({ kind: "words", words });
  }

  /** Puts text into the prompt if that is empty. */
  suggestPrompt(words: string): void {
    if (this.draft.text.trim() === "" && words !== "") {
      this.draft.text = words;
      this.page.post({ kind: "draft", words });
    }
  }

  /** Shows an empty chat. The next prompt starts a session. */
  async startNewSession(): Promise<void> {
    this.dependencies.server.state.setCurrentSession(undefined);
    await this.showChat({ focus: true });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.visibility.fire();
    const { webview } = view;
    const dist = vscode.Uri.joinPath(this.context.extensionUri, "dist");
    const served = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    this.pageDisposables.push(
      webview.onDidReceiveMessage((message: ToHost) => this.handleMessage(message)),
      view.onDidChangeVisibility(() => {
        if (!view.visible) {
          this.pageHidden();
        }
        this.visibility.fire();
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
      state.on("session", () => {
        this.postStatus();
        this.postRequests();
      }),
      state.on("hunks", () => this.postStatus()),
      state.on("server", () => this.postStatus()),
      state.on("permission", () => this.postRequests()),
      state.on("input", () => this.postRequests()),
    ];
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
      again: ({ turnId, how }) => this.tryAgain(turnId, how),
      wait: ({ turnId }) => this.retries.toggleWait(turnId),
      setup: ({ offer }) => this.dependencies.setup.choose(offer),
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
    this.postSetup();
    this.page.postKept();
    void this.dependencies.setup.open();
    void this.conversation.loadCurrent();
  }

  private returnMessage({ words, instead }: OutgoingMessage, problem: string, { attached }: PromptContext): void {
    this.attachments.restore(attached);
    this.page.postWhenOpen({ kind: "words", words, ...(instead !== undefined && { instead }) });
    this.page.postWhenOpen({ kind: "say", words: `Not sent: ${problem}. Your text is in the prompt again.` });
  }

  private postSetup(): void {
    this.page.post({ kind: "setup", setup: this.dependencies.setup.view ?? null });
  }

  private tryAgain(turnId: string, how: "retry" | "continue"): void {
    this.retries.cancel(turnId);
    tryAgain(this.dependencies, this.outbox, turnId, how);
  }

  private postStatus(): void {
    const { server } = this.dependencies;
    const now = server.running ? "running" : server.starting ? "starting" : "none";
    this.page.post({ kind: "status", status: statusOf(server.state, now, folderUris()) });
  }

  private postRequests(): void {
    const { permissions, inputs, sessionId } = this.dependencies.server.state;
    const isShown = (request: { readonly sessionId: string }): boolean => request.sessionId === sessionId;
    this.page.post({
      kind: "waiting",
      permissions: permissions.filter(isShown).map((request) => permissionRow(request, process.env, mustBeShown(request, hasTab, relativeName))),
      inputs: inputs.filter(isShown).map(inputRow),
    });
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
    this.visibility.fire();
    for (const disposable of this.pageDisposables.splice(0)) {
      disposable.dispose();
    }
  }
}
