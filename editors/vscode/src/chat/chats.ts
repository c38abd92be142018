/** All chats of the window: the one in the side bar, and those in tabs of the editor. */

import * as vscode from "vscode";
import { Place } from "../model/place";
import { plainExcerpt, plainLine } from "../text/surfaces";
import { showInfo } from "../window/notify";
import { Chat, type ChatHost } from "./chat";
import type { ChatDependencies } from "./dependencies";
import { takeHeldPrompt } from "./heldPrompt";
import { PromptDraft } from "./promptDraft";
import { StoredTabs, type TabMemory } from "./storedTabs";

const VIEW = "tark.chat";
const TAB = "tark.chatTab";
const SESSION = "tark.chat.session"; // workspace state: the session that the side bar showed last
const LONGEST_TITLE = 40; // characters

interface Tab {
  readonly chat: Chat;
  readonly panel: vscode.WebviewPanel;
  readonly memory: TabMemory;
}

/** What VS Code has stored of a page (`Kept` in page/page.ts). */
interface StoredPage {
  readonly sessionId?: string;
}

export class Chats implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer<StoredPage>, vscode.Disposable {
  private readonly side: Chat;
  private readonly tabs = new Set<Tab>();
  private readonly stored: StoredTabs;
  private readonly visibility = new vscode.EventEmitter<void>();
  private readonly disposables: readonly vscode.Disposable[];
  readonly onDidChangeVisibility = this.visibility.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly dependencies: ChatDependencies,
  ) {
    const { state } = dependencies.server;
    const memory = context.workspaceState;
    this.stored = new StoredTabs(memory);
    const onSession = (sessionId: string | undefined): void => void memory.update(SESSION, sessionId);
    this.side = new Chat(context, dependencies, state.place, Object.assign(new PromptDraft(memory), { onSession }));
    this.side.suggestPrompt(takeHeldPrompt(memory));
    this.disposables = [
      this.side,
      this.side.onDidChangeVisibility(() => this.visibility.fire()),
      vscode.window.registerWebviewViewProvider(VIEW, this),
      vscode.window.registerWebviewPanelSerializer(TAB, this),
      state.on("session", () => this.setTitles()),
      state.on("reveal", () => void this.showChat({ focus: true })),
    ];
    const last = memory.get<string>(SESSION);
    if (state.sessionId === undefined && last !== undefined) {
      state.setCurrentSession(last); // its transcript is loaded when the server runs
    }
  }

  /** Is a chat visible? */
  get visible(): boolean {
    return this.all.some((chat) => chat.visible);
  }

  /** Is a session visible in a chat? Then its requests are asked there. */
  shows(sessionId: string): boolean {
    return this.all.some((chat) => chat.shows(sessionId));
  }

  /** Shows the chat in the side bar, and focuses its prompt. */
  async openChat(): Promise<void> {
    this.dependencies.server.state.usePlace(this.side.place);
    await this.showChat({ focus: true });
  }

  /** Shows the chat that was used last. `focus`: focuses the prompt. */
  async showChat({ focus }: { focus: boolean }): Promise<void> {
    const { current } = this;
    const tab = [...this.tabs].find(({ chat }) => chat === current);
    if (tab === undefined) {
      await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    } else {
      tab.panel.reveal(undefined, !focus);
    }
    if (focus) {
      current.focusPrompt();
    }
  }

  /** Shows the chat with these words in the prompt. */
  async giveBack(words: string): Promise<void> {
    await this.showChat({ focus: true });
    this.current.giveBack(words);
  }

  /** Puts text into the prompt of the side bar if that is empty. */
  suggestPrompt(words: string): void {
    this.side.suggestPrompt(words);
  }

  /** Shows an empty chat. The next prompt starts a session. */
  async startNewSession(): Promise<void> {
    this.dependencies.server.state.setCurrentSession(undefined);
    await this.showChat({ focus: true });
  }

  /** Moves the session of the side bar to a tab. */
  openInEditor(): void {
    const { sessionId } = this.side.place;
    this.dependencies.server.state.setCurrentSession(undefined, this.side.place);
    this.openTab(sessionId);
  }

  /** Shows an empty chat, or a session, in a tab of its own. */
  openTab(sessionId?: string): void {
    const panel = vscode.window.createWebviewPanel(TAB, "Chat", vscode.ViewColumn.Beside);
    const { chat } = this.addTab(panel, this.stored.add({ ...(sessionId !== undefined && { sessionId }), text: "" }));
    this.dependencies.server.state.usePlace(chat.place);
    chat.focusPrompt();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.side.attach(hostOf(view, view.onDidChangeVisibility));
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, page: StoredPage | undefined): Promise<void> {
    this.addTab(panel, this.stored.restore(page?.sessionId));
    return Promise.resolve();
  }

  dispose(): void {
    for (const disposable of [...this.disposables, ...[...this.tabs].map(({ chat }) => chat), this.visibility]) {
      disposable.dispose();
    }
  }

  private get all(): Chat[] {
    return [this.side, ...[...this.tabs].map(({ chat }) => chat)];
  }

  /** The chat that was used last. */
  private get current(): Chat {
    return this.all.find(({ place }) => place === this.dependencies.server.state.place) ?? this.side;
  }

  private addTab(panel: vscode.WebviewPanel, memory: TabMemory): Tab {
    const { state } = this.dependencies.server;
    const place = new Place();
    const { sessionId } = memory.stored;
    if (sessionId !== undefined && ![...state.places].some((other) => other.sessionId === sessionId)) {
      place.sessionId = sessionId;
    }
    state.places.add(place);
    const tab: Tab = { chat: new Chat(this.context, this.dependencies, place, memory), panel, memory };
    this.tabs.add(tab);
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "media", "tark.svg");
    panel.onDidDispose(() => this.tabClosed(tab));
    panel.onDidChangeViewState(() => panel.active && state.usePlace(place));
    tab.chat.onDidChangeVisibility(() => this.visibility.fire());
    tab.chat.attach(hostOf(panel, panel.onDidChangeViewState));
    this.setTitles();
    return tab;
  }

  private setTitles(): void {
    const { sessions } = this.dependencies.server.state;
    for (const { chat, panel } of this.tabs) {
      const title = plainExcerpt(sessions.get(chat.place.sessionId ?? "")?.title ?? "", LONGEST_TITLE);
      panel.title = title === "" ? "Chat" : title;
    }
  }

  /** Its turn goes on, and its unsent text is in the side bar. */
  private tabClosed(tab: Tab): void {
    const { state } = this.dependencies.server;
    const { sessionId } = tab.chat.place;
    this.tabs.delete(tab);
    tab.chat.dispose();
    this.stored.remove(tab.memory);
    state.removePlace(tab.chat.place, this.side.place);
    this.visibility.fire();
    this.side.suggestPrompt(tab.memory.text);
    const turns = state.transcripts.get(sessionId ?? "")?.turns ?? [];
    if (sessionId !== undefined && turns.some((turn) => turn.state !== "ended")) {
      const title = plainLine(state.sessions.get(sessionId)?.title ?? "");
      void showInfo(`the turn of ${title === "" ? "the closed chat" : `“${title}”`} goes on`, "Show Chat").then((choice) => {
        if (choice !== undefined) {
          state.setCurrentSession(sessionId, this.side.place);
          void this.openChat();
        }
      });
    }
  }
}

function hostOf(shown: vscode.WebviewView | vscode.WebviewPanel, onDidChange: vscode.Event<unknown>): ChatHost {
  return {
    webview: shown.webview,
    get visible() {
      return shown.visible;
    },
    onDidChange,
    onDidDispose: shown.onDidDispose,
  };
}
