/** A request for permission in words: one line for a message, and the whole for a document. Pure. */

import { runs } from "../review/lineDiff";
import { plural, sizeInBrackets, type Name } from "../review/words";
import type { DocumentHunks, Hunk, Permission } from "../model/protocol";
import { code, line, short } from "../text/visible";

/** What fits a notification; a longer command is allowed only after it was shown whole. */
const LONGEST_MESSAGE = 240;
const LONGEST_COVER = 160;
/** Columns of the document: nothing of a line is out of sight to the right. */
const WIDTH = 80;
const CONTINUED = "    ↪ ";

const RISKS: Readonly<Record<string, string>> = {
  read_only: "only reads",
  write: "writes",
  risky: "risky",
  dangerous: "DANGEROUS",
};
const DECIDED = new Set(["accepted", "rejected"]);
const NOT_MADE: Readonly<Record<string, string>> = {
  conflict: ", in conflict: not made by allowing",
  stale: ", stale: not made by allowing",
};

/** A request whose hunks were edited, or decided in part, says another thing than the one that was shown. */
export function versionOf(request: Permission): string {
  return `${request.requestId} ${request.digest} ${String(decided(request.edits ?? [])[0])}`;
}

/** Hunks that are decided already, and all there are. */
export function decided(edits: readonly DocumentHunks[]): [number, number] {
  const hunks = edits.flatMap((each) => each.hunks);
  return [hunks.filter((hunk) => DECIDED.has(hunk.state)).length, hunks.length];
}

/** What it is about, all of it: a message that is cut says less than this. */
function subject(request: Permission, name: Name): string {
  if (request.command) {
    return `run ${line(request.command.text)} in ${line(request.command.cwd)}`;
  }
  if (request.edits && request.edits.length > 0) {
    return request.edits.map((each) => `${fileWords(each, name)}${sizeInBrackets(each.hunks)}`).join("; ");
  }
  return line(request.title);
}

function fileWords(document: DocumentHunks, name: Name): string {
  const file = line(name(document.uri));
  const words = document.hunks.map((hunk) => operationWords(hunk, name, file)).find((each) => each !== undefined);
  return words ?? `edit ${file}`;
}

function operationWords(hunk: Hunk, name: Name, file: string): string | undefined {
  if (!hunk.operation) {
    return undefined;
  }
  const { kind, target } = hunk.operation;
  return kind === "remove" ? `delete ${file}` : `move ${file} to ${target ? line(name(target)) : "?"}`;
}

/** For a notification, which strips newlines and makes links: neither is in it. */
export function message(request: Permission, name: Name): string {
  const [some, all] = decided(request.edits ?? []);
  const progress = some > 0 ? `, ${String(some)} of ${plural(all, "change")} decided already` : "";
  return `Tark asks: ${short(subject(request, name), LONGEST_MESSAGE)}? (${riskWords(request)}${progress})`;
}

export function riskWords(request: Permission): string {
  return `${RISKS[request.risk] ?? line(request.risk)}, asked because ${short(request.why, 80)}`;
}

/**
 * Must it be seen whole before it can be allowed? What does not fit a message, a grant that does not fit its button,
 * and what no undo of the editor takes back: writing into files that are not open, and deleting one.
 */
export function mustBeShown(request: Permission, isOpen: (uri: string) => boolean, name: Name): boolean {
  const isCut = request.grants.some(({ covers }) => rest(request, covers).length > LONGEST_COVER);
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

/** A grant, named by what it covers. */
export function grantWords(request: Permission, covers: string): string {
  return `Allow ${short(rest(request, covers), LONGEST_COVER)}`;
}

/** The command itself is not said again. */
function rest(request: Permission, covers: string): string {
  const command = request.command && `\`${request.command.text}\``;
  return command && covers.startsWith(command) ? `this very command${covers.slice(command.length)}` : covers;
}

/** All of it, as lines of a document. `ownEnv`: the person's environment. */
export function whole(request: Permission, name: Name, ownEnv: Readonly<Record<string, string | undefined>>): string {
  const lines = [line(request.title), riskWords(request), ""];
  if (request.command) {
    lines.push(...commandLines(request.command, ownEnv));
  }
  if (request.edits) {
    lines.push(...editLines(request.edits, name));
  }
  for (const grant of request.grants) {
    lines.push(`can be granted: ${line(grant.covers)}`);
  }
  return `${lines.flatMap(folded).join("\n")}\n`;
}

/** Untrusted lines begin with a sign of ours, so that none can look like a line of ours. */
function commandLines(
  command: NonNullable<Permission["command"]>,
  ownEnv: Readonly<Record<string, string | undefined>>,
): string[] {
  const argv = command.argv.at(-1) === command.text ? command.argv.slice(0, -1) : command.argv;
  const keys = Object.keys(command.env).sort();
  const other = keys.filter((key) => command.env[key] !== ownEnv[key]);
  const same = keys.filter((key) => command.env[key] === ownEnv[key]);
  return [
    ...code(command.text.replace(/\n$/, "")).split("\n").map((each) => `$ ${each}`),
    "",
    `in    ${line(command.cwd)}`,
    ...(argv.length > 0 ? [`by    ${quoted(argv)}`] : []),
    ...(other.length > 0 ? [`with  ${other.map((key) => quoted([`${key}=${command.env[key] ?? ""}`])).join("  ")}`] : []),
    ...(same.length > 0 ? [`and   ${quoted(same)} as they are here`] : []),
    "",
  ];
}

function quoted(argv: readonly string[]): string {
  const plain = /^[\w\-./=:,+@%]+$/;
  return line(argv.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" "));
}

/** What is decided already is left out, and counted. */
function editLines(edits: readonly DocumentHunks[], name: Name): string[] {
  const lines: string[] = [];
  for (const document of edits) {
    const file = line(name(document.uri));
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
  const [some, all] = decided(edits);
  return some > 0 ? [...lines, `${String(some)} of ${plural(all, "change")} decided already, this is the rest`] : lines;
}

/** Line ends are left out where all are CRLF; where some differ, that is what is to be seen. */
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
  for (const run of [...runs(old, new_), undefined]) {
    lines.push(...old.slice(at, run?.oldStart ?? old.length).map((each) => ` ${each}`));
    lines.push(...old.slice(run?.oldStart ?? 0, run?.oldEnd ?? 0).map((each) => `-${each}`));
    lines.push(...new_.slice(run?.newStart ?? 0, run?.newEnd ?? 0).map((each) => `+${each}`));
    at = run?.oldEnd ?? at;
  }
  return [head, ...lines.map(code)];
}

/** A long line goes on in the next one, behind a sign of ours. */
function folded(text: string): string[] {
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
