/** The whole page in a small DOM, for tests of what it shows and posts. */

import { window } from "./dom";
import type { ToHost, ToPage } from "../../src/chat/messages";
import type { Kept } from "../../src/chat/page/page";
import { startPage } from "../../src/chat/page/start";

export interface Opened {
  readonly body: HTMLElement;
  readonly told: ToHost[];
  readonly kept: () => Kept | undefined;
  give(...messages: ToPage[]): Promise<void>;
  all(selector: string): HTMLElement[];
  one(selector: string): HTMLElement;
  press(field: HTMLElement, key: string, more?: object): void;
  type(words: string): void;
}

export function pause(ms = 5): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function open(before?: Kept, tab?: string): Opened {
  const body = document.createElement("div");
  document.body.replaceChildren(body);
  const told: ToHost[] = [];
  let kept: Kept | undefined;
  const receive = startPage(body, { post: (message) => told.push(message), kept: before, keep: (now) => (kept = structuredClone(now)), tab });
  const all = (selector: string): HTMLElement[] => [...body.querySelectorAll<HTMLElement>(selector)];
  const press = (field: HTMLElement, key: string, more: object = {}): void => {
    field.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }) as unknown as Event);
  };
  return {
    body,
    told,
    kept: () => kept,
    give: async (...messages) => {
      messages.forEach(receive);
      await pause();
    },
    all,
    one: (selector) => all(selector)[0]!,
    press,
    type: (words) => {
      const field = body.querySelector("textarea")!;
      field.value = words;
      field.setSelectionRange(words.length, words.length);
      field.dispatchEvent(new window.Event("input", { bubbles: true }) as unknown as Event);
    },
  };
}
