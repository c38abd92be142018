/** The notification of progress, with a Cancel button. */

import * as vscode from "vscode";
import { notificationText } from "../text/surfaces";
import type { Toast } from "./progress";

export function openProgressToast(title: string, cancel: () => void): Toast {
  let close = (): void => undefined;
  let last = "";
  let report = (): void => undefined; // until the notification is there
  const done = new Promise<void>((resolve) => (close = resolve));
  const options = { location: vscode.ProgressLocation.Notification, title: notificationText(title), cancellable: true };
  void vscode.window.withProgress(options, (progress, token) => {
    token.onCancellationRequested(cancel);
    report = () => progress.report({ message: notificationText(last) });
    report();
    return done;
  });
  return {
    report: (message) => {
      last = message;
      report();
    },
    close: () => close(),
  };
}
