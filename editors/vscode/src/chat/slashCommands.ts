/** The list that `/` opens in the prompt: the extension's own commands. The server adds its prompts. Pure. */

import { SLASH_COMMANDS, type CompletionRow, type SlashCommand } from "./messages";

/** The server's rows, then the extension's own rows, which take precedence if both have the same name. */
export function completionsOf(served: readonly CompletionRow[], own: readonly CompletionRow[]): CompletionRow[] {
  return [...served.filter(({ label }) => own.every((row) => row.label !== label)), ...own];
}

/** Returns the commands whose names start with the typed text. Empty if the text is not the start of a command. */
export function slashRows(text: string, offset: number): CompletionRow[] {
  const typed = /^\s*(\/[\w-]*)$/.exec(text.slice(0, offset))?.[1]?.toLowerCase();
  if (typed === undefined) {
    return [];
  }
  const from = offset - typed.length;
  return (Object.keys(SLASH_COMMANDS) as SlashCommand[])
    .filter((name) => `/${name}`.startsWith(typed))
    .map((name) => ({ label: `/${name}`, detail: SLASH_COMMANDS[name].about, insert: `/${name}`, from, to: offset, runs: name }));
}
