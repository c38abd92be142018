/** Notifies the user of the end of a turn, its warnings and its requests, if they would not be seen otherwise. */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import { showInfo, showWarning } from "../window/notify";
import type { State } from "../model/state";
import { type Attention, endingNotice, type Notice, waitingNotice } from "./endingNotice";

const CHAT = "Open Chat";

/** The chats: which sessions they show. */
export interface ShownSessions {
  shows(sessionId: string): boolean;
  showSession(sessionId: string): Promise<void>;
}

export function watchEndings(state: State, chats: ShownSessions): Disposable {
  const tell = (sessionId: string, notice: Notice | undefined): void => {
    if (notice !== undefined) {
      const message = notice.level === "warning" ? showWarning : showInfo;
      void message(notice.message, CHAT).then((choice) => choice && chats.showSession(sessionId));
    }
  };
  let known = new Set<string>();
  const requested = (): void => {
    const requests = [...state.permissions, ...state.inputs];
    const first = requests.find(({ requestId }) => !known.has(requestId));
    if (first !== undefined) {
      tell(first.sessionId, waitingNotice(attention(chats.shows(first.sessionId))));
    }
    known = new Set(requests.map(({ requestId }) => requestId));
  };
  const listening = [
    state.on("update", ({ params: { update, sessionId } }) => tell(sessionId, endingNotice(update, attention(chats.shows(sessionId))))),
    state.on("permission", requested),
    state.on("input", requested),
  ];
  return { dispose: () => listening.forEach((listener) => listener.dispose()) };
}

/** `chatVisible`: a chat with the session is visible. */
function attention(chatVisible: boolean): Attention {
  const wanted = vscode.workspace.getConfiguration("tark").get<boolean>("chat.notifyWhenAway", true);
  return { chatVisible, away: wanted && !vscode.window.state.focused };
}
