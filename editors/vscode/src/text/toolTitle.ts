/** The titles of tool calls in words: "Run make" for `run_command make`. Pure. */

export const VERBS: Readonly<Record<string, string>> = {
  read_file: "Read",
  read_files: "Read",
  list_directory: "List",
  search_text: "Search",
  find_files: "Find",
  request_code_context: "Find code for",
  codebase_overview: "Overview",
  list_symbols: "List symbols",
  find_definition: "Find definition of",
  find_references: "Find references to",
  call_hierarchy: "Find calls of",
  get_signature: "Signature of",
  code_item: "Read",
  run_command: "Run",
  run_tests: "Test",
  run_check: "Check",
  fetch: "Fetch",
  edit_file: "Edit",
  edit_symbol: "Edit",
  write_file: "Write",
  apply_patch: "Patch",
  propose_edit: "Propose",
  delete_file: "Delete",
  move_file: "Move",
  replace_selection: "Edit",
  read_diagnostics: "Read problems",
  read_changes: "Read changes",
  read_skill: "Read skill",
  ask_user: "Ask",
  update_plan: "Plan",
  save_memory: "Save note",
  search_memory: "Search notes",
  switch_mode: "Switch mode",
};

export function titleInWords(title: string): string {
  const [name = "", ...rest] = title.trim().split(" ");
  return [VERBS[name] ?? name, ...rest].join(" ");
}

/** The message of a turn's progress in words: "waiting for you: Run make" for `waiting for you: run_command make`. */
export function activityInWords(message: string): string {
  const [, before = "", rest = ""] = /^(waiting for you: |\d+ tools running: )?(.*)$/s.exec(message) ?? [];
  const words = before.includes("running") ? rest.split(", ").map(titleInWords).join(", ") : titleInWords(rest);
  return before + words;
}
