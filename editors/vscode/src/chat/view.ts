/** The chat in the side bar: gives its page what is known of the server, and does what the page asks for. */

import * as vscode from "vscode";
import { telling } from "../status/notify";
import type { Core } from "../parts";
import { PromptCompletion } from "./completion";
import { Conversation } from "./conversation";
import { Draft } from "./draft";
import { activeFile, folderUris } from "./editors";
import { html } from "./html";
import { Line } from "./line";
import type { ToHost } from "./messages";
import { requests, type Handlers, type OfTheView } from "./requests";
import { Outbox, type Document, type Message, type Ways } from "./send";
import { SessionList } from "./sessionList";
import { inputRow, permissionRow, statusOf } from "./told";

const VIEW = "tark.chat";
const SESSION = "tark.chat.session"; // in the workspace's memory: which one was shown

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private readonly line = new Line();
  private readonly outbox: Outbox;
  private readonly conversation: Conversation;
  private readonly list: SessionList;
  private readonly draft: Draft;
  private readonly completion: PromptCompletion;
  private readonly handlers: Handlers;
  private readonly own: vscode.Disposable[] = [];
  private readonly pageOwn: vscode.Disposable[] = [];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly core: Core,
  ) {
    const { state } = core.server;
    const memory = context.workspaceState;
    this.draft = new Draft(memory);
    this.completion = new PromptCompletion(core.server);
    this.list = new SessionList(core, this.line);
    this.outbox = new Outbox(
      this.ways(),
      () => this.line.tell({ kind: "sending", turns: this.outbox.heads }),
      (message, problem) => this.refused(message, problem),
    );
    this.conversation = new Conversation(core, this.line, () => this.outbox.heads, (sessionId) => void memory.update(SESSION, sessionId));
    this.handlers = { ...requests(core, (message) => this.line.tell(message)), ...this.requestsOfView() };
    this.own.push(
      vscode.window.registerWebviewViewProvider(VIEW, this),
      this.completion,
      this.list,
      this.conversation,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.tellStatus()),
      ...this.listening(),
    );
    const last = memory.get<string>(SESSION);
    if (state.sessionId === undefined && last !== undefined) {
      state.goOn(last); // its words come with the server
    }
  }

  /** Is it on the screen? */
  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  /** Shows it; `focus`: the prompt gets the keys. */
  async show({ focus }: { focus: boolean }): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    if (focus) {
      this.line.tellSurely({ kind: "focus" });
    }
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const { webview } = view;
    const dist = vscode.Uri.joinPath(this.context.extensionUri, "dist");
    const served = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    this.pageOwn.push(
      webview.onDidReceiveMessage((message: ToHost) => this.received(message)),
      view.onDidChangeVisibility(() => {
        if (!view.visible) {
          this.hidden();
        }
      }),
      view.onDidDispose(() => this.gone()),
    );
    webview.options = { enableScripts: true, enableCommandUris: false, enableForms: false, localResourceRoots: [dist] };
    webview.html = html({ cspSource: webview.cspSource, script: served("chat.js"), style: served("chat.css") });
  }

  dispose(): void {
    this.draft.keep();
    for (const each of [...this.own, ...this.pageOwn]) {
      each.dispose();
    }
  }

  private listening(): vscode.Disposable[] {
    const { state } = this.core.server;
    return [
      state.on("update", ({ params, change }) => {
        if (params.sessionId === state.sessionId && (change?.kind === "usage" || change?.kind === "turn")) {
          this.tellStatus();
        }
      }),
      state.on("session", () => this.tellStatus()),
      state.on("hunks", () => this.tellStatus()),
      state.on("server", () => this.tellStatus()),
      state.on("permission", () => this.tellWaiting()),
      state.on("input", () => this.tellWaiting()),
    ];
  }

  private ways(): Ways {
    const { server, sessions, turns, updates } = this.core;
    return {
      state: server.state,
      document: documentHere,
      start: (prompt, sessionId, textDocument, kind) =>
        turns.send({ prompt, ...(kind && { kind }), ...(sessionId !== undefined && { sessionId }), ...(textDocument && { textDocument }) }),
      steer: async (turn, prompt) => {
        const { accepted } = await server.command<{ accepted: boolean }>("tark.turn.steer", { turnId: turn.turnId, prompt });
        if (accepted) {
          updates.steered(turn, prompt);
        }
        return accepted;
      },
      before: async (sessionId, turnId) => {
        const other = await sessions.before(sessionId, turnId);
        const { model, mode, approval, thinking } = server.state.sessions.get(sessionId) ?? {};
        const kept = Object.entries({ model, mode, approval, thinking }).filter(([, value]) => value != null);
        await server.command("tark.settings.set", { ...Object.fromEntries(kept), sessionId: other }); // it may be a new one
        return other;
      },
      begin: async () => (await server.command<{ sessionId: string }>("tark.session.new")).sessionId,
    };
  }

  private received(message: ToHost): void {
    const handle = this.handlers[message.kind] as (told: ToHost) => unknown;
    void telling(() => handle(message));
  }

  private requestsOfView(): Pick<Handlers, OfTheView> {
    return {
      ready: () => this.began(),
      send: ({ words, instead }) => this.outbox.add({ words, ...(instead !== undefined && { instead }) }),
      steer: ({ words }) => this.outbox.add({ words, steers: true }),
      draft: ({ words }) => {
        this.draft.words = words;
      },
      earlier: () => this.conversation.earlier(),
      fewer: () => this.conversation.fewer(),
      complete: async ({ id, text, offset }) => {
        const items = await this.completion.at(text, offset).catch(() => []); // a key is no reason for a message
        this.line.tell({ kind: "completion", id, items });
      },
      sessions: ({ all }) => this.list.ask(all),
      session: ({ action, sessionId }) => this.list.act(action, sessionId),
    };
  }

  /** The page is there, and hears all that there is. */
  private began(): void {
    if (this.view === undefined) {
      return;
    }
    this.line.open(this.view.webview);
    this.line.tell({ kind: "draft", words: this.draft.words });
    this.tellStatus();
    this.conversation.tell();
    this.tellWaiting();
    this.line.tellKept();
    void this.conversation.load();
  }

  private refused({ words, instead }: Message, problem: string): void {
    this.line.tellSurely({ kind: "words", words, ...(instead !== undefined && { instead }) });
    this.line.tellSurely({ kind: "say", words: `Not sent: ${problem}. Your words are in the prompt.` });
  }

  private tellStatus(): void {
    const { server } = this.core;
    const now = server.running ? "running" : server.starting ? "starting" : "none";
    this.line.tell({ kind: "status", status: statusOf(server.state, now, folderUris()) });
  }

  private tellWaiting(): void {
    const { permissions, inputs } = this.core.server.state;
    this.line.tell({ kind: "waiting", permissions: permissions.map((each) => permissionRow(each, process.env)), inputs: inputs.map(inputRow) });
  }

  /** Its page is made anew when it is shown again. */
  private hidden(): void {
    this.line.close();
    this.conversation.forget();
    this.list.forget();
    this.draft.keep();
  }

  private gone(): void {
    this.hidden();
    this.view = undefined;
    for (const each of this.pageOwn.splice(0)) {
      each.dispose();
    }
  }
}

function documentHere(): Document {
  const document = activeFile();
  return document && { uri: document.uri.toString(), version: document.version };
}
