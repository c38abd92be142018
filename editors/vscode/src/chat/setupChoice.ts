/** Runs a row of the setup card. If the chat then has a model, the chat says which one, and its prompt gets the focus. */

import type { State } from "../model/state";
import type { ToPage } from "./messages";

/** @param choose does what the row says */
export async function runSetupChoice(state: State, choose: () => Promise<void>, post: (message: ToPage) => void): Promise<void> {
  const before = modelOf(state);
  await choose();
  const model = modelOf(state);
  if (before === "" && model !== "") {
    post({ kind: "say", words: `The model is now ${model}. You can change it below the prompt.` });
    post({ kind: "focus" });
  }
}

function modelOf(state: State): string {
  const session = state.sessions.get(state.sessionId ?? "");
  return session?.model ?? state.settings?.model ?? "";
}
