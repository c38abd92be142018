/** The chat in the side bar: gives its page what is known of the server, and does what the page asks for. */

import * as vscode from "vscode";
import { telling, warn, words } from "../notify";
import type { Core } from "../parts";
import type { Session } from "../protocol";
import { PromptCompletion } from "./completion";
import { Durations } from "./durations";
import { activeFile, folderUris } from "./editors";
import { html } from "./html";
import type { SessionRow, ToHost, ToPage } from "./messages";
import { Outlet } from "./outlet";
import { requests, type Handlers, type OfTheView } from "./requests";
import { Outbox, type Message } from "./send";
import { SESSION_ACTIONS } from "./sessionActions";
import type { Transcript } from "../types";
import { inputRow, permissionRow, sessionRow, statusOf } from "./told";

const VIEW = "tark.chat";
const FLUSH_MS = 30;
const TURNS = 40; // that the page holds at first
const MORE = 4; // times as many when the person wants earlier ones
const DRAFT = "tark.chat.draft"; // in the workspace's memory: what was typed and not sent
const SESSION = "tark.chat.session"; // and which session was shown

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private current: string | undefined; // the session that is shown
  private told: { readonly sessionId: string | undefined; readonly transcript: Transcript | undefined } | undefined; // to the page
  private most = TURNS;
  private readonly durations = new Durations();
  private readonly outlet = new Outlet(this.durations);
  private readonly outbox: Outbox;
  private readonly completion: PromptCompletion;
  private readonly handlers: Handlers;
  private readonly own: vscode.Disposable[] = [];
  private readonly pageOwn: vscode.Disposable[] = [];
  private flushing: NodeJS.Timeout | undefined;
  private drafting: NodeJS.Timeout | undefined;
  private draft: string;
  private readonly pending: ToPage[] = []; // for a page that is not there yet
  private listed: readonly Session[] | undefined; // the list of sessions is open

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly core: Core,
  ) {
    const { server, sessions, turns, updates } = core;
    this.draft = context.workspaceState.get(DRAFT, "");
    this.completion = new PromptCompletion(server);
    this.outbox = new Outbox(
      {
        state: server.state,
        start: (prompt) => turns.send({ prompt, ...this.document() }),
        steer: async (turn, prompt) => {
          const { accepted } = await server.command<{ accepted: boolean }>("tark.turn.steer", { turnId: turn.turnId, prompt });
          if (accepted) {
            updates.steered(turn, prompt);
          }
          return accepted;
        },
        before: (sessionId, turnId) => sessions.before(sessionId, turnId),
      },
      () => this.tell({ kind: "sending", turns: this.outbox.heads }),
      (message, problem) => this.refused(message, problem),
    );
    this.handlers = { ...requests(core, (message) => this.tell(message)), ...this.requestsOfView() };
    this.listen();
    const provider = vscode.window.registerWebviewViewProvider(VIEW, this);
    this.own.push(provider, this.completion, vscode.workspace.onDidChangeWorkspaceFolders(() => this.tellStatus()));
    const last = context.workspaceState.get<string>(SESSION);
    if (server.state.sessionId === undefined && last !== undefined) {
      server.state.goOn(last); // its words come with the server
    }
  }

  /** Shows it; `focus`: the prompt gets the keys. `text` goes into the prompt, behind what is typed there. */
  async show({ focus, text }: { focus: boolean; text?: string }): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    if (text !== undefined) {
      this.tell({ kind: "append", words: text }, true);
    }
    if (focus) {
      this.tell({ kind: "focus" }, true);
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
    this.tellBadge();
  }

  dispose(): void {
    clearTimeout(this.flushing);
    this.keepDraft();
    for (const each of [...this.own, ...this.pageOwn]) {
      each.dispose();
    }
  }

  private listen(): void {
    const { server } = this.core;
    const { state } = server;
    this.own.push(
      state.on("update", ({ params, change }) => {
        if (change?.block?.kind === "toolCall") {
          this.durations.seen(change.block, Date.now());
        } else if (change?.kind === "turn") {
          change.turn.calls.forEach((call) => this.durations.seen(call, Date.now()));
        }
        if (change === undefined || params.sessionId !== state.sessionId) {
          return;
        }
        if (this.isTold()) {
          this.outlet.touch(change);
          this.flushing ??= setTimeout(() => this.flush(), FLUSH_MS);
        } else {
          this.tellTranscript();
        }
        if (change.kind === "usage" || change.kind === "turn") {
          this.tellStatus();
        }
      }),
      state.on("session", () => {
        if (state.sessionId !== this.current) {
          this.current = state.sessionId;
          this.most = TURNS;
          void this.context.workspaceState.update(SESSION, state.sessionId);
          void this.load();
        }
        if (!this.isTold()) {
          this.tellTranscript();
        }
        this.tellStatus();
        this.tellSessions();
      }),
      state.on("hunks", () => this.tellStatus()),
      state.on("permission", () => this.tellWaiting()),
      state.on("input", () => this.tellWaiting()),
      state.on("server", ({ running }) => {
        this.tellStatus();
        if (running) {
          void this.load();
        }
      }),
    );
  }

  /** The stored words of the current session, where they are not here. */
  private async load(): Promise<void> {
    const { server, sessions } = this.core;
    const { sessionId } = server.state;
    if (sessionId === undefined || !server.running) {
      return;
    }
    try {
      await sessions.open(sessionId);
    } catch (problem) {
      const unknown = this.core.server.running && !server.state.transcripts.has(sessionId);
      if (unknown && server.state.sessionId === sessionId) {
        server.state.goOn(undefined); // it was deleted meanwhile: the next prompt begins another
      } else {
        void warn(words(problem));
      }
    }
  }

  private received(message: ToHost): void {
    const handle = this.handlers[message.kind] as (told: ToHost) => unknown;
    void telling(() => handle(message));
  }

  private requestsOfView(): Pick<Handlers, OfTheView> {
    return {
      ready: () => {
        this.ready = true;
        this.tell({ kind: "draft", words: this.draft });
        this.tellStatus();
        this.tellTranscript();
        this.tellWaiting();
        for (const each of this.pending.splice(0)) {
          this.tell(each);
        }
        void this.load();
      },
      send: ({ words: said, instead }) => this.outbox.add({ words: said, ...(instead !== undefined && { instead }) }),
      steer: ({ words: said }) => this.outbox.add({ words: said, steers: true }),
      draft: ({ words: typed }) => {
        this.draft = typed;
        this.drafting ??= setTimeout(() => this.keepDraft(), 300);
      },
      earlier: () => this.earlier(),
      complete: async ({ id, text, offset }) => {
        const items = await this.completion.at(text, offset).catch(() => []); // a key is no reason for a message
        this.tell({ kind: "completion", id, items });
      },
      sessions: async () => {
        const answer = await this.core.server.command<{ sessions: readonly Session[] }>("tark.session.list");
        this.listed = answer.sessions;
        this.tellSessions();
      },
      session: async ({ action, sessionId }) => {
        const title = this.listed?.find((each) => each.sessionId === sessionId)?.title ?? "";
        await SESSION_ACTIONS[action](this.core, sessionId, title);
        if (action === "delete") {
          this.listed = this.listed?.filter((each) => each.sessionId !== sessionId);
        }
        this.tellSessions();
      },
    };
  }

  private document(): { textDocument?: { uri: string; version: number } } {
    const document = activeFile();
    return document ? { textDocument: { uri: document.uri.toString(), version: document.version } } : {};
  }

  private async earlier(): Promise<void> {
    const { state } = this.core.server;
    const transcript = state.transcripts.get(state.sessionId ?? "");
    const held = this.most;
    this.most *= MORE;
    if (transcript !== undefined && transcript.earlier && transcript.turns.length <= held) {
      await this.core.sessions.earlier(transcript.sessionId);
    }
    this.tellTranscript();
  }

  private refused({ words: said, instead }: Message, problem: string): void {
    this.tell({ kind: "words", words: said, ...(instead !== undefined && { instead }) }, true);
    this.tell({ kind: "say", words: `Not sent: ${problem}. Your words are in the prompt.` }, true);
  }

  /** `keep`: it waits for the page, where there is none. */
  private tell(message: ToPage, keep = false): void {
    if (this.ready && this.view !== undefined) {
      void this.view.webview.postMessage(message);
    } else if (keep) {
      this.pending.push(message);
    }
  }

  private tellStatus(): void {
    const { server } = this.core;
    this.tell({ kind: "status", status: statusOf(server.state, server.running, folderUris()) });
  }

  /** Whether what the page shows only needs changes: it is this transcript, not one that was loaded anew. */
  private isTold(): boolean {
    const { sessionId, transcripts } = this.core.server.state;
    return this.told !== undefined && this.told.sessionId === sessionId && this.told.transcript === transcripts.get(sessionId ?? "");
  }

  private tellTranscript(): void {
    if (!this.ready) {
      return;
    }
    const { sessionId, transcripts } = this.core.server.state;
    const transcript = transcripts.get(sessionId ?? "");
    this.told = { sessionId, transcript };
    const view = { ...this.outlet.whole(transcript, this.most), ...(sessionId !== undefined && { sessionId }) };
    this.tell({ kind: "transcript", transcript: view, sending: this.outbox.heads });
  }

  private flush(): void {
    this.flushing = undefined;
    if (this.ready && this.outlet.isStale) {
      this.tell({ kind: "changes", changes: this.outlet.take() });
    }
  }

  private tellWaiting(): void {
    const { permissions, inputs } = this.core.server.state;
    this.tell({ kind: "waiting", permissions: permissions.map(permissionRow), inputs: inputs.map(inputRow) });
    this.tellBadge();
  }

  private tellBadge(): void {
    const { permissions, inputs } = this.core.server.state;
    const value = permissions.length + inputs.length;
    if (this.view !== undefined) {
      this.view.badge = value === 0 ? undefined : { value, tooltip: value === 1 ? "Tark waits for you" : `${value} questions wait for you` };
    }
  }

  private tellSessions(): void {
    if (this.listed !== undefined) {
      const { sessions, sessionId } = this.core.server.state;
      const rows: SessionRow[] = this.listed.map((each) =>
        sessionRow({ ...each, ...(sessions.get(each.sessionId) ?? {}) }, sessionId, Date.now()),
      );
      this.tell({ kind: "sessions", sessions: rows });
    }
  }

  private keepDraft(): void {
    clearTimeout(this.drafting);
    this.drafting = undefined;
    void this.context.workspaceState.update(DRAFT, this.draft);
  }

  /** Its page is made anew when it is shown again. */
  private hidden(): void {
    this.keepDraft();
    this.ready = false;
    this.told = undefined;
  }

  private gone(): void {
    this.hidden();
    this.view = undefined;
    for (const each of this.pageOwn.splice(0)) {
      each.dispose();
    }
  }
}
