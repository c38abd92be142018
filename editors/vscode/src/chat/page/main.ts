/** The entry point of the page: connects it to VS Code's webview API. */

import type { ToHost, ToPage } from "../messages";
import "./chat.css";
import { startPage } from "./start";
import type { Kept } from "./page";

declare function acquireVsCodeApi(): {
  postMessage(message: ToHost): void;
  getState(): Kept | undefined;
  setState(kept: Kept): void;
};

const api = acquireVsCodeApi();
const receive = startPage(document.body, {
  post: (message) => api.postMessage(message),
  kept: api.getState(),
  keep: (kept) => api.setState(kept),
  tab: document.body.dataset["tab"],
  isMac: navigator.userAgent.includes("Macintosh"),
});
window.addEventListener("message", (event: MessageEvent<ToPage>) => receive(event.data));
