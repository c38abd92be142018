/** Notifies the user of the end of a turn, its warnings and its requests, if they would not be seen otherwise. */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import { showInfo, showWarning } from "../window/notify";
import type { State } from "../model/state";
import { type Attention, endingNotice, type Notice, waitingNotice } from "./endingNotice";

const CHAT = "Open Chat";

export function watchEndings(state: State, isChatVisible: () => boolean): Disposable {
  let known = new Set<string>();
  const requested = (): void => {
    const ids = [...state.permissions, ...state.inputs].map(({ requestId }) => requestId);
    if (ids.some((id) => !known.has(id))) {
      show(waitingNotice(attention(isChatVisible())));
    }
    known = new Set(ids);
  };
  const listening = [
    state.on("update", ({ params: { update } }) => show(endingNotice(update, attention(isChatVisible())))),
    state.on("permission", requested),
    state.on("input", requested),
  ];
  return { dispose: () => listening.forEach((listener) => listener.dispose()) };
}

function attention(chatVisible: boolean): Attention {
  const wanted = vscode.workspace.getConfiguration("tark").get<boolean>("chat.notifyWhenAway", true);
  return { chatVisible, away: wanted && !vscode.window.state.focused };
}

function show(notice: Notice | undefined): void {
  if (notice !== undefined) {
    const tell = notice.level === "warning" ? showWarning : showInfo;
    void tell(notice.message, CHAT).then((choice) => choice !== undefined && vscode.commands.executeCommand("tark.client.chat"));
  }
}
