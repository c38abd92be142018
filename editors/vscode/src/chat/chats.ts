/** All chats of the window: the chat in the side bar, and the chats in editor tabs. */

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
const SIDE_MS = 200; // after a reload, VS Code restores the side bar in this time

interface Tab {
  readonly chat: Chat;
  readonly panel: vscode.WebviewPanel;
  readonly memory: TabMemory;
}

/** What VS Code has stored of a page (`Kept` in page/page.ts). */
interface StoredPage {
  readonly tab?: string;
}

export class Chats implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer<StoredPage>, vscode.Disposable {
  private readonly side: Chat;
  private readonly tabs = new Set<Tab>();
  private readonly stored: StoredTabs;
  /** Resolves when the pages that are being restored have loaded. */
  private restored: Promise<unknown> | undefined;
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
      state.on("session", () => this.sessionsChanged()),
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

  /** Is a session visible in a chat? Then its requests appear there. */
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

  /** Shows a session in the chat that has it, else in the side bar. */
  async showSession(sessionId: string): Promise<void> {
    const { state } = this.dependencies.server;
    const shown = this.all.find(({ place }) => place.sessionId === sessionId);
    state.usePlace(shown?.place ?? this.side.place);
    if (shown === undefined) {
      state.setCurrentSession(sessionId);
    }
    await this.showChat({ focus: true });
  }

  /** Moves the session of the side bar to a tab, with the prompt. */
  openInEditor(): void {
    const { sessionId } = this.side.place;
    this.dependencies.server.state.setCurrentSession(undefined, this.side.place);
    this.openTab(sessionId).takePrompt(this.side);
  }

  /** Shows an empty chat, or a session, in a separate tab. */
  openTab(sessionId?: string): Chat {
    const panel = vscode.window.createWebviewPanel(TAB, "Chat", vscode.ViewColumn.Beside);
    const chat = this.addTab(panel, this.stored.add(sessionId));
    this.dependencies.server.state.usePlace(chat.place);
    chat.focusPrompt();
    return chat;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.side.attach(hostOf(view, view.onDidChangeVisibility));
  }

  /**
   * Called when VS Code restores a tab, which shows the page when this is done. The pages are shown one after the other:
   * if several load at the same time, VS Code 1.100 can leave one empty for good, because their service workers replace
   * one another.
   */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, page: StoredPage | undefined): Promise<void> {
    const chat = this.addTab(panel, this.stored.restore(page?.tab));
    this.restored ??= new Promise((resolve) => setTimeout(resolve, SIDE_MS));
    const turn = this.restored.then(() => this.side.loaded());
    this.restored = turn.then(() => chat.loaded());
    return turn;
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

  private addTab(panel: vscode.WebviewPanel, memory: TabMemory): Chat {
    const { state } = this.dependencies.server;
    const place = new Place();
    const { sessionId } = memory.stored;
    if (sessionId !== undefined && ![...state.places].some((other) => other.sessionId === sessionId)) {
      place.sessionId = sessionId;
    }
    state.places.add(place);
    const tab: Tab = { chat: new Chat(this.context, this.dependencies, place, memory), panel, memory };
    this.tabs.add(tab);
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "media", "icon.png");
    panel.onDidDispose(() => this.tabClosed(tab));
    panel.onDidChangeViewState(() => panel.active && state.usePlace(place));
    tab.chat.onDidChangeVisibility(() => this.visibility.fire());
    tab.chat.attach(hostOf(panel, panel.onDidChangeViewState, memory.stored.id));
    this.sessionsChanged();
    return tab.chat;
  }

  /** Sets the titles of tabs. An empty prompt gets the unsent text of a closed tab with the same session. */
  private sessionsChanged(): void {
    const { sessions } = this.dependencies.server.state;
    for (const chat of this.all.filter(({ hasText }) => !hasText)) {
      chat.suggestPrompt(this.stored.takeText(chat.place.sessionId));
    }
    for (const { chat, panel } of this.tabs) {
      const title = plainExcerpt(sessions.get(chat.place.sessionId ?? "")?.title ?? "", LONGEST_TITLE);
      panel.title = title === "" ? "Chat" : title;
    }
  }

  /** Called when a tab was closed. Its turn continues. Its unsent text waits until a chat shows the session. */
  private tabClosed(tab: Tab): void {
    const { state } = this.dependencies.server;
    const { sessionId } = tab.chat.place;
    this.tabs.delete(tab);
    tab.chat.dispose();
    tab.memory.setClosed(true);
    state.removePlace(tab.chat.place, this.side.place);
    this.sessionsChanged();
    this.visibility.fire();
    const turns = state.transcripts.get(sessionId ?? "")?.turns ?? [];
    if (sessionId !== undefined && turns.some((turn) => turn.state !== "ended")) {
      const title = plainLine(state.sessions.get(sessionId)?.title ?? "");
      const words = `the turn of ${title === "" ? "the closed chat" : `“${title}”`} continues`;
      void showInfo(words, "Show Chat").then((choice) => choice && this.showSession(sessionId));
    }
  }
}

function hostOf(shown: vscode.WebviewView | vscode.WebviewPanel, onDidChange: vscode.Event<unknown>, tab?: string): ChatHost {
  return {
    ...(tab !== undefined && { tab }),
    webview: shown.webview,
    get visible() {
      return shown.visible;
    },
    onDidChange,
    onDidDispose: shown.onDidDispose,
  };
}
