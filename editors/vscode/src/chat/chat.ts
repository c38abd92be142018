/** One chat, in the side bar or in a tab: posts the state to its page, and handles the page's messages. */

import * as vscode from "vscode";
import { mustBeShown } from "../asking/permissionText";
import { hasTab, relativeName } from "../window/files";
import { reportErrors } from "../window/notify";
import type { ChatDependencies } from "./dependencies";
import { PromptCompletion } from "./completion";
import { Conversation } from "./conversation";
import { runRemedy, tryAgain } from "./again";
import { outboxActions } from "./outboxActions";
import { recordFocus } from "./chatFocus";
import { runSetupChoice } from "./setupChoice";
import { Retries } from "./retries";
import type { PromptContext } from "./attached";
import { Attachments } from "./attachments";
import { folderUris } from "./editors";
import { pageHtml } from "./html";
import { PageConnection } from "./pageConnection";
import type { Place } from "../model/place";
import { KeyCards } from "./keyCards";
import type { ToHost, ToPage } from "./messages";
import { pageRequests, type PageHandlers, type ViewRequest } from "./pageRequests";
import { Outbox, type OutgoingMessage } from "./outbox";
import { completionsOf, slashRows } from "./slashCommands";
import { SessionList } from "./sessionList";
import { inputRow, permissionRow, statusOf } from "./pageRows";

/** What shows the page: a view or a panel of VS Code. */
export interface ChatHost {
  /** The id of the tab. Absent: the side bar. */
  readonly tab?: string;
  readonly webview: vscode.Webview;
  readonly visible: boolean;
  readonly onDidChange: vscode.Event<unknown>;
  readonly onDidDispose: vscode.Event<void>;
}

/** What each chat remembers. */
export interface ChatMemory {
  /** The unsent text of the prompt. */
  text: string;
  save(): void;
  /** The chat shows this session now. */
  onSession(sessionId: string | undefined): void;
}

const LOAD_MS = 10_000;
/** Messages that do not mean that the user is in this chat. */
const POSTED_BY_PAGE: ReadonlySet<ToHost["kind"]> = new Set(["ready", "draft", "blurred"]);

export class Chat implements vscode.Disposable {
  private host: ChatHost | undefined;
  private isClosed = false;
  private readonly page = new PageConnection();
  private readonly outbox: Outbox;
  private readonly conversation: Conversation;
  private readonly list: SessionList;
  private readonly retries: Retries;
  private readonly keys: KeyCards;
  private readonly completion: PromptCompletion;
  private readonly attachments: Attachments;
  private readonly handlers: PageHandlers;
  private readonly disposables: vscode.Disposable[] = [];
  private readonly hostDisposables: vscode.Disposable[] = [];
  private readonly visibility = new vscode.EventEmitter<void>();
  readonly onDidChangeVisibility = this.visibility.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly dependencies: ChatDependencies,
    readonly place: Place,
    private readonly memory: ChatMemory,
  ) {
    const post = (message: ToPage): void => this.page.post(message);
    const redraw = (turnId: string): void => this.conversation.redrawTurn(turnId);
    this.retries = new Retries((turnId) => this.tryAgain(turnId, "retry"), redraw);
    this.keys = new KeyCards(dependencies.server.state, place, (turnId, how) => this.tryAgain(turnId, how), redraw);
    this.completion = new PromptCompletion(dependencies.server);
    this.attachments = new Attachments(dependencies.server, place, post);
    this.list = new SessionList(dependencies, place, this.page);
    this.outbox = new Outbox(
      outboxActions(dependencies, context.workspaceState, place, this.attachments),
      () => post({ kind: "sending", turns: this.outbox.heads }),
      (message, problem, sent) => this.returnMessage(message, problem, sent),
    );
    const onSession = (sessionId: string | undefined): void => memory.onSession(sessionId);
    this.conversation = new Conversation(dependencies, place, this.page, () => this.outbox.heads, onSession, this.retries, this.keys);
    this.handlers = { ...pageRequests(dependencies, place, post), ...this.viewRequests() };
    this.disposables.push(
      ...[this.completion, this.attachments, this.list, this.conversation, this.retries, this.keys, this.outbox, this.visibility],
      dependencies.setup.onChange(() => this.postSetup()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.postStatus()),
      ...this.listening(),
    );
  }

  /** Is the chat visible? */
  get visible(): boolean {
    return this.host?.visible ?? false;
  }

  /** Is a session visible in the chat? Then its requests appear there. */
  shows(sessionId: string): boolean {
    return this.visible && this.place.sessionId === sessionId;
  }

  /** Is there unsent text in the prompt? */
  get hasText(): boolean {
    return this.memory.text.trim() !== "";
  }

  /** Focuses the prompt, as soon as the page is there. */
  focusPrompt(): void {
    this.page.postWhenOpen({ kind: "focus" });
  }

  /** Puts these words into the prompt, as soon as the page is there. */
  giveBack(words: string): void {
    this.page.postWhenOpen({ kind: "words", words });
  }

  /** Puts text into the prompt if that is empty. */
  suggestPrompt(words: string): void {
    if (!this.hasText && words !== "") {
      this.memory.text = words;
      this.page.post({ kind: "draft", words });
    }
  }

  /** Moves the prompt of the other chat here, with its attachments. */
  takePrompt(other: Chat): void {
    const { text } = other.memory;
    other.memory.text = "";
    other.page.post({ kind: "moved" });
    this.suggestPrompt(text);
    this.attachments.restore(other.attachments.take().attached);
  }

  /** Resolves when the page has loaded, or takes too long. */
  loaded(): Promise<void> {
    return this.visible ? this.page.opened(LOAD_MS) : Promise.resolve();
  }

  /** Called when VS Code has a place for the page. */
  attach(host: ChatHost): void {
    this.host = host;
    this.visibility.fire();
    const { webview } = host;
    const dist = vscode.Uri.joinPath(this.context.extensionUri, "dist");
    const served = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    this.hostDisposables.push(
      webview.onDidReceiveMessage((message: ToHost) => this.handleMessage(message)),
      host.onDidChange(() => {
        if (!host.visible) {
          this.pageHidden();
        }
        this.visibility.fire();
      }),
      host.onDidDispose(() => this.hostDisposed()),
    );
    webview.options = { enableScripts: true, enableCommandUris: false, enableForms: false, localResourceRoots: [dist] };
    webview.html = pageHtml({ cspSource: webview.cspSource, script: served("chat.js"), style: served("chat.css"), tab: host.tab });
  }

  dispose(): void {
    this.isClosed = true;
    recordFocus(this.place, false);
    this.memory.save();
    for (const disposable of [...this.disposables, ...this.hostDisposables]) {
      disposable.dispose();
    }
  }

  private listening(): vscode.Disposable[] {
    const { state } = this.dependencies.server;
    return [
      state.on("update", ({ params, change }) => {
        if (params.sessionId === this.place.sessionId && (change?.kind === "usage" || change?.kind === "turn")) {
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
    if (!POSTED_BY_PAGE.has(message.kind)) {
      this.dependencies.server.state.usePlace(this.place); // the user is here
    }
    const handle = this.handlers[message.kind] as (message: ToHost) => unknown;
    void reportErrors(() => handle(message));
  }

  private viewRequests(): Pick<PageHandlers, ViewRequest> {
    return {
      ready: () => this.pageReady(),
      send: ({ words, instead }) => this.outbox.addMessage({ words, ...(instead !== undefined && { instead }) }),
      steer: ({ words }) => this.outbox.addMessage({ words, steers: true }),
      draft: ({ words }) => {
        this.memory.text = words;
      },
      again: ({ turnId, how }) => this.tryAgain(turnId, how),
      remedy: (pressed) => runRemedy(this.keys, pressed),
      wait: ({ turnId }) => this.retries.toggleWait(turnId),
      setup: ({ offer }) => runSetupChoice(this.dependencies.server.state, () => this.dependencies.setup.choose(offer), (message) => this.page.post(message)),
      earlier: () => this.conversation.showEarlier(),
      fewer: () => this.conversation.showFewer(),
      complete: async ({ id, text, offset }) => {
        const items = await this.completion.completeAt(text, offset).catch(() => []); // typing must not cause error messages
        this.page.post({ kind: "completion", id, items: completionsOf(items, slashRows(text, offset)) });
      },
      attach: () => this.attachments.choose(),
      attachUris: ({ uris }) => this.attachments.addUris(uris),
      attachData: (file) => this.attachments.addData(file),
      detach: ({ id }) => this.attachments.remove(id),
      sessions: ({ all }) => this.list.listSessions(all),
      session: ({ action, sessionId }) => this.list.runAction(action, sessionId),
    };
  }

  /** Called when the page has loaded: posts the whole state. */
  private pageReady(): void {
    if (this.host === undefined) {
      return;
    }
    this.page.open(this.host.webview);
    this.page.post({ kind: "draft", words: this.memory.text });
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
    if (this.isClosed) {
      this.memory.text = [words, this.memory.text].filter((text) => text !== "").join("\n\n");
      this.memory.save();
      return;
    }
    this.attachments.restore(attached);
    this.page.postWhenOpen({ kind: "words", words, ...(instead !== undefined && { instead }) });
    this.page.postWhenOpen({ kind: "say", words: `Not sent: ${problem}. Your text is in the prompt again.` });
  }

  private postSetup(): void {
    this.page.post({ kind: "setup", setup: this.dependencies.setup.view ?? null });
  }

  private tryAgain(turnId: string, how: "retry" | "continue"): void {
    this.retries.cancel(turnId);
    tryAgain(this.dependencies, this.outbox, this.place, turnId, how);
  }

  private postStatus(): void {
    const { server } = this.dependencies;
    const now = server.running ? "running" : server.starting ? "starting" : "none";
    this.page.post({ kind: "status", status: statusOf(server.state, now, folderUris(), this.place) });
  }

  private postRequests(): void {
    const { permissions, inputs } = this.dependencies.server.state;
    const { sessionId } = this.place;
    const isShown = (request: { readonly sessionId: string }): boolean => request.sessionId === sessionId;
    this.page.post({
      kind: "waiting",
      permissions: permissions.filter(isShown).map((request) => permissionRow(request, process.env, mustBeShown(request, hasTab, relativeName))),
      inputs: inputs.filter(isShown).map(inputRow),
    });
  }

  /** VS Code discards the page of a hidden chat, and loads it again later. */
  private pageHidden(): void {
    this.page.close();
    recordFocus(this.place, false);
    this.conversation.pageClosed();
    this.list.pageClosed();
    this.memory.save();
  }

  private hostDisposed(): void {
    this.pageHidden();
    this.host = undefined;
    this.visibility.fire();
    for (const disposable of this.hostDisposables.splice(0)) {
      disposable.dispose();
    }
  }
}
