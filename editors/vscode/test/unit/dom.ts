/** A small real DOM for tests of the chat's page. */

import { Window } from "happy-dom";
import type { Page } from "../../src/chat/page/page";
import type { ToHost } from "../../src/chat/messages";

export const window = new Window({ url: "vscode-webview://page/" });
const own = setInterval;
Object.assign(globalThis, {
  document: window.document,
  addEventListener: window.addEventListener.bind(window),
  ResizeObserver: window.ResizeObserver,
  requestAnimationFrame: (does: () => void) => setTimeout(does, 0),
  // A timer of the page must not keep the process alive.
  setInterval: (does: () => void, ms: number) => own(does, ms).unref(),
});

export function newPage(): Page & { told: ToHost[]; spoken: string[] } {
  const told: ToHost[] = [];
  const spoken: string[] = [];
  return {
    kept: { opened: {}, history: [], answers: {} },
    isMac: false,
    keep: () => undefined,
    post: (message) => told.push(message),
    announce: (words) => spoken.push(words),
    withdraw: (words) => spoken.splice(0, spoken.length, ...spoken.filter((said) => said !== words)),
    told,
    spoken,
  };
}
