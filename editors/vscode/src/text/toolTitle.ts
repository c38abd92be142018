/** The titles of tool calls in words: "Run make" for `run_command make`. Pure. */

export const VERBS: Readonly<Record<string, string>> = {
  read_file: "Read",
  read_files: "Read",
  list_directory: "List",
  search_text: "Search",
  find_files: "Find",
  run_command: "Run",
  fetch: "Fetch",
  edit_file: "Edit",
  write_file: "Write",
  apply_patch: "Patch",
  propose_edit: "Propose",
  delete_file: "Delete",
  move_file: "Move",
};

export function titleInWords(title: string): string {
  const [name = "", ...rest] = title.trim().split(" ");
  return [VERBS[name] ?? name, ...rest].join(" ");
}
