/** A prompt that waits for the setup. It is kept in the workspace state, so it is not lost when the window closes. */

import type { Memento } from "vscode";
import type { Setup } from "../setup/setup";

const KEY = "tark.chat.held";

/** Resolves when the prompt can be sent. */
export async function untilReady(memory: Memento, setup: Setup, prompt: string): Promise<void> {
  const ready = setup.untilReady();
  await memory.update(KEY, prompt);
  try {
    await ready;
  } finally {
    void memory.update(KEY, undefined);
  }
}

/** The prompt that waited when the window was closed, or "". */
export function takeHeldPrompt(memory: Memento): string {
  const held = memory.get(KEY, "");
  void memory.update(KEY, undefined);
  return held;
}
