/** A permission request as text: one line for a notification, and all of it for a document. Pure. */

import { counted } from "../text/figures";
import { diffRuns } from "../review/lineDiff";
import { lineCountsInBrackets, type NameFile } from "../review/hunkText";
import { grantCoverage, RISKS } from "../text/permissionWords";
import type { DocumentHunks, Hunk, Permission } from "../model/protocol";
import { documentText, plainLine, plainExcerpt } from "../text/surfaces";
import { titleInWords } from "../text/toolTitle";

/** The limit of a notification. A longer command can be allowed only after it was shown in full. */
const LONGEST_MESSAGE = 240;
const LONGEST_COVER = 160;
/** Columns of the document: longer lines are wrapped, so that all of them is visible. */
const WIDTH = 80;
const CONTINUED = "    ↪ ";

const DECIDED = new Set(["accepted", "rejected"]);
const NOT_MADE: Readonly<Record<string, string>> = {
  conflict: ", in conflict: allowing does not apply it",
  stale: ", outdated: allowing does not apply it",
};

/** The version of a request changes when its hunks are edited or decided. */
export function requestVersion(request: Permission): string {
  return `${request.requestId} ${request.digest} ${String(countDecided(request.edits ?? [])[0])}`;
}

/** The number of decided hunks, and of all hunks. */
export function countDecided(edits: readonly DocumentHunks[]): [number, number] {
  const hunks = edits.flatMap((document) => document.hunks);
  return [hunks.filter((hunk) => DECIDED.has(hunk.state)).length, hunks.length];
}

/** What the request is about, not shortened. */
function subject(request: Permission, name: NameFile): string {
  if (request.command) {
    const { text, cwd } = request.command;
    return `run ${plainLine(text)} in ${plainLine(cwd)}${beyondWorkspace(request.command)}`;
  }
  if (request.edits && request.edits.length > 0) {
    return request.edits.map((document) => `${fileWords(document, name)}${lineCountsInBrackets(document.hunks)}`).join("; ");
  }
  return plainLine(titleInWords(request.title));
}

/** What a command in the sandbox can access beyond the workspace, as the end of a sentence. */
export function beyondWorkspace({ sandboxed, network, writable }: NonNullable<Permission["command"]>): string {
  if (!sandboxed) {
    return "";
  }
  const needs = [...(network ? ["the network"] : []), ...(writable ?? []).map((path) => `write access to ${plainLine(path)}`)];
  return needs.length > 0 ? `, with ${needs.join(" and ")}` : "";
}

function fileWords(document: DocumentHunks, name: NameFile): string {
  const file = plainLine(name(document.uri));
  const words = document.hunks.map((hunk) => operationWords(hunk, name, file)).find((operation) => operation !== undefined);
  return words ?? `edit ${file}`;
}

function operationWords(hunk: Hunk, name: NameFile, file: string): string | undefined {
  if (!hunk.operation) {
    return undefined;
  }
  const { kind, target } = hunk.operation;
  return kind === "remove" ? `delete ${file}` : `move ${file} to ${target ? plainLine(name(target)) : "?"}`;
}

/** What the notification asks, in one line. */
export function permissionMessage(request: Permission, name: NameFile): string {
  const [some, all] = countDecided(request.edits ?? []);
  const progress = some > 0 ? `, ${String(some)} of ${counted(all, "change")} already decided` : "";
  return `Tark asks: ${plainExcerpt(subject(request, name), LONGEST_MESSAGE)}? (${riskWords(request)}${progress})`;
}

export function riskWords(request: Permission, why = plainExcerpt(request.why, 80)): string {
  return `${RISKS[request.risk] ?? plainLine(request.risk)}, asked because ${why}`;
}

/**
 * Must the user see the whole request before allowing it? Yes, if it does not fit into a notification, if a grant does
 * not fit on its button, or if the editor cannot undo it: edits of files that are not open, and deletions.
 */
export function mustBeShown(request: Permission, isOpen: (uri: string) => boolean, name: NameFile): boolean {
  const isCut = request.grants.some(({ covers }) => grantCoverage(request.command?.text, covers).length > LONGEST_COVER);
  if (isCut || subject(request, name).length > LONGEST_MESSAGE) {
    return true;
  }
  if (request.command) {
    return /[\n\r]/.test(request.command.text);
  }
  return (request.edits ?? []).some((document) =>
    document.hunks.some((hunk) => hunk.operation?.kind === "remove" || (!hunk.operation && !isOpen(document.uri))),
  );
}

/** The title of a grant: what it covers. */
export function grantWords(request: Permission, covers: string): string {
  return `Allow ${plainExcerpt(grantCoverage(request.command?.text, covers), LONGEST_COVER)}`;
}

/** The whole request as the text of a document. `ownEnv`: the user's environment. */
export function fullText(request: Permission, name: NameFile, ownEnv: Readonly<Record<string, string | undefined>>): string {
  const lines = [plainLine(titleInWords(request.title)), riskWords(request, plainLine(request.why)), ""];
  if (request.command) {
    lines.push(...commandLines(request.command, ownEnv));
  }
  if (request.edits) {
    lines.push(...editLines(request.edits, name));
  }
  for (const grant of request.grants) {
    lines.push(`can be granted: ${plainLine(grant.covers)}`);
  }
  return `${lines.flatMap(wrapLine).join("\n")}\n`;
}

/** Untrusted lines start with a marker, so that they cannot imitate lines of Tark. */
function commandLines(
  command: NonNullable<Permission["command"]>,
  ownEnv: Readonly<Record<string, string | undefined>>,
): string[] {
  const argv = command.argv.at(-1) === command.text ? command.argv.slice(0, -1) : command.argv;
  const keys = Object.keys(command.env).sort();
  const other = keys.filter((key) => command.env[key] !== ownEnv[key]);
  const same = keys.filter((key) => command.env[key] === ownEnv[key]);
  return [
    ...documentText(command.text.replace(/\n$/, "")).split("\n").map((text) => `$ ${text}`),
    "",
    `in    ${plainLine(command.cwd)}`,
    ...(argv.length > 0 ? [`by    ${quoted(argv)}`] : []),
    ...(other.length > 0 ? [`with  ${other.map((key) => quoted([`${key}=${command.env[key] ?? ""}`])).join("  ")}`] : []),
    ...(same.length > 0 ? [`and   ${quoted(same)} with their current values`] : []),
    "",
  ];
}

function quoted(argv: readonly string[]): string {
  const plain = /^[\w\-./=:,+@%]+$/;
  return plainLine(argv.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" "));
}

/** Decided hunks are only counted. */
function editLines(edits: readonly DocumentHunks[], name: NameFile): string[] {
  const lines: string[] = [];
  for (const document of edits) {
    const file = plainLine(name(document.uri));
    const crlf = document.hunks.every((hunk) => [hunk.oldText, hunk.newText].every((text) => !/(^|[^\r])\n/.test(text)));
    const open = document.hunks.filter((hunk) => !DECIDED.has(hunk.state));
    if (open.length > 0) {
      lines.push(`file ${file}`);
    }
    for (const hunk of open) {
      const words = operationWords(hunk, name, file);
      lines.push(...(words ? [words] : []), ...hunkLines(hunk, crlf), "");
    }
  }
  const [some, all] = countDecided(edits);
  return some > 0 ? [...lines, `${String(some)} of ${counted(all, "change")} already decided; these are the others`] : lines;
}

/** Omits CR if all line endings are CRLF. If they differ, CR is visible. */
function hunkLines(hunk: Hunk, crlf: boolean): string[] {
  const split = (text: string): string[] => {
    const lines = (crlf ? text.replaceAll("\r\n", "\n") : text).split("\n");
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  };
  const [old, new_] = [split(hunk.oldText), split(hunk.newText)];
  if (old.length + new_.length === 0) {
    return [];
  }
  const outside = hunk.outsideSelection ? ", outside the selection" : "";
  const head = `@@ line ${String(hunk.range.start.line + 1)}${outside}${NOT_MADE[hunk.state] ?? ""} @@`;
  const lines: string[] = [];
  let at = 0;
  for (const run of [...diffRuns(old, new_), undefined]) {
    lines.push(...old.slice(at, run?.oldStart ?? old.length).map((text) => ` ${text}`));
    lines.push(...old.slice(run?.oldStart ?? 0, run?.oldEnd ?? 0).map((text) => `-${text}`));
    lines.push(...new_.slice(run?.newStart ?? 0, run?.newEnd ?? 0).map((text) => `+${text}`));
    at = run?.oldEnd ?? at;
  }
  return [head, ...lines.map(documentText)];
}

/** Wraps a long line. Continuation lines start with a marker. */
function wrapLine(text: string): string[] {
  const characters = [...text];
  if (characters.length <= WIDTH) {
    return [text];
  }
  const found = [characters.slice(0, WIDTH).join("")];
  for (let at = WIDTH; at < characters.length; at += WIDTH - CONTINUED.length) {
    found.push(CONTINUED + characters.slice(at, at + WIDTH - CONTINUED.length).join(""));
  }
  return found;
}
