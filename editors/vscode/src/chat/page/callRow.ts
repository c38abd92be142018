/** What the row of a tool call says: what the call does, where, and with which result. Pure. */

import { counted, formatDuration, joinParts } from "../../text/figures";
import { plainExcerpt } from "../../text/surfaces";
import { VERBS } from "../../text/toolTitle";
import type { CallView, Diff } from "../messages";
import type { Outcome } from "../../model/transcriptTurn";
import { fileName } from "./wording";

export interface CallRow {
  /** `Read`, `Run`. Empty if the rest says it. */
  readonly verb: string;
  /** A file with its line, a command, a pattern. */
  readonly subject: string;
  /** Lines of an edit. */
  readonly lines?: { readonly added: number; readonly removed: number };
  /** The folder of the file. */
  readonly folder?: string;
  readonly figures: string;
}

const LONGEST = 500; // characters
const SHORT_MS = 100; // the time of a shorter call is not shown
/** Their row is about the whole file, not about lines. */
const WHOLE_FILE = new Set(["delete_file", "move_file"]);

export function callRow(call: CallView, folders: readonly string[], now: number): CallRow {
  const figures = joinParts(isUnchanged(call) && "nothing changed", outcomeWords(call.outcome ?? {}), call.outcome?.seconds === undefined && duration(call, now));
  const diffs = diffsOf(call);
  if (diffs.length > 0 && !WHOLE_FILE.has(call.name ?? "")) {
    return { ...editedRow(diffs, folders), figures };
  }
  const { name = "tool" } = call;
  const title = (call.title ?? name).trim();
  const verb = VERBS[name];
  const known = verb !== undefined && (title === name || title.startsWith(`${name} `));
  return known
    ? { verb, subject: plainExcerpt(title.slice(name.length).trim(), LONGEST), figures }
    : { verb: "", subject: plainExcerpt(title, LONGEST), figures };
}

/** `exit 1 · 2.3 s`, `2 failed, 1 passed · exit 1 · 2.3 s`, `12 matches in 3 files`, `7 files`: the same words as in the terminal and in Neovim. */
export function outcomeWords({ exitCode, seconds, matches, files, more, counts }: Outcome): string {
  const some = (count: number, one: string, many: string): string => `${count}${more ? "+" : ""} ${count === 1 && !more ? one : many}`;
  const inFiles = files === undefined ? "" : files === 0 ? "no files" : some(files, "file", "files");
  const found = matches === undefined ? inFiles : matches === 0 ? "no matches" : joinWords(some(matches, "match", "matches"), inFiles);
  const ended = exitCode === undefined ? "" : exitCode < 0 ? `signal ${-exitCode}` : `exit ${exitCode}`;
  return joinParts(found, counts !== undefined && plainExcerpt(counts, LONGEST), ended, seconds !== undefined && formatDuration(seconds * 1000));
}

/** Did the command run, and fail? */
export function hasFailed({ status, outcome }: CallView): boolean {
  return status === "completed" && outcome?.exitCode !== undefined && outcome.exitCode !== 0;
}

/** Is it an edit whose text was already in the file? */
export function isUnchanged(call: CallView): boolean {
  const diffs = diffsOf(call);
  return call.status === "completed" && diffs.length > 0 && diffs.every(({ hunks }) => hunks.length === 0);
}

function diffsOf({ content = [] }: CallView): Diff[] {
  return content.filter((part): part is Diff => (part as { type?: string }).type === "diff");
}

/** Is the call read-only? Consecutive read-only calls share a row. */
export function isRead({ name }: CallView): boolean {
  return name !== undefined && READS.has(name);
}
const SEARCHES = ["search_text", "find_files", "request_code_context", "codebase_overview", "list_symbols", "find_definition", "find_references", "call_hierarchy", "get_signature"];
const READS = new Set(["read_file", "read_files", "code_item", "list_directory", ...SEARCHES]);

/** `Read 3 files, searched 2 times, listed 1 folder` */
export function readsWords(calls: readonly CallView[]): string {
  const count = (...names: readonly string[]): number => calls.filter(({ name }) => names.includes(name ?? "")).length;
  const read = calls.filter(({ name }) => name === "read_file" || name === "read_files" || name === "code_item");
  const files = new Set(read.flatMap(({ toolCallId, locations = [] }) => (locations.length === 0 ? [toolCallId] : locations.map((place) => (place as { uri: string }).uri))));
  const [searches, lists] = [count(...SEARCHES), count("list_directory")];
  const words = [
    files.size > 0 && `read ${counted(files.size, "file")}`,
    searches > 0 && `searched ${counted(searches, "time")}`,
    lists > 0 && `listed ${counted(lists, "folder")}`,
  ].filter((part) => part !== false);
  const line = words.join(", ");
  return line.charAt(0).toUpperCase() + line.slice(1);
}

function editedRow(diffs: readonly Diff[], folders: readonly string[]): Omit<CallRow, "figures"> {
  const [{ uri, hunks }] = diffs as [Diff];
  const path = fileName(uri, folders);
  const cut = path.lastIndexOf("/") + 1;
  const line = hunks[0]?.range?.start.line;
  const others = new Set(diffs.map((diff) => diff.uri)).size - 1;
  const all = diffs.flatMap((diff) => diff.hunks);
  const lines = {
    added: all.reduce((sum, { newText }) => sum + lineCount(newText), 0),
    removed: all.reduce((sum, { oldText }) => sum + lineCount(oldText), 0),
  };
  const subject = `${path.slice(cut)}${line === undefined ? "" : `:${line + 1}`}${others > 0 ? ` and ${counted(others, "other file")}` : ""}`;
  return { verb: "", subject, lines, ...(cut > 0 && { folder: path.slice(0, cut - 1) }) };
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** How long the call ran. Empty for calls that were very short, or ended before this page was opened. */
function duration(call: CallView, now: number): string {
  const ms = (call.ms ?? 0) + (call.since === undefined ? 0 : now - call.since);
  return call.ms === undefined || ms < SHORT_MS ? "" : formatDuration(ms);
}

function joinWords(found: string, where: string): string {
  return where === "" ? found : `${found} in ${where}`;
}
