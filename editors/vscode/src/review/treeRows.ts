/** The rows of the list of changes: requests that wait for an answer, then files with their hunks. Pure. */

import { counted } from "../text/figures";
import type { DocumentHunks, Input, Permission } from "../model/protocol";
import { plainLine, plainExcerpt } from "../text/surfaces";
import { titleInWords } from "../text/toolTitle";
import { undecidedHunks, lineCounts, hunkTitle, type NameFile, type UndecidedHunk } from "./hunkText";

export interface RequestRow {
  readonly kind: "permission" | "input";
  readonly requestId: string;
  readonly label: string;
  readonly description: string;
}

export interface FileRow {
  readonly kind: "file";
  readonly uri: string;
  readonly description: string;
  readonly hunks: readonly HunkRow[];
}

export interface HunkRow extends UndecidedHunk {
  readonly kind: "hunk";
  readonly label: string;
}

export type TreeRow = RequestRow | FileRow | HunkRow;

const LONGEST = 100;

export function requestRows(permissions: readonly Permission[], inputs: readonly Input[]): RequestRow[] {
  return [
    ...permissions.map((request) => ({
      kind: "permission" as const,
      requestId: request.requestId,
      label: plainExcerpt(titleInWords(request.title), LONGEST),
      description: `asked because ${plainLine(request.why)}`,
    })),
    ...inputs.map((request) => ({
      kind: "input" as const,
      requestId: request.requestId,
      label: plainExcerpt(request.question.trim(), LONGEST),
      description: "question",
    })),
  ];
}

export function fileRows(hunks: ReadonlyMap<string, DocumentHunks>, name: NameFile): FileRow[] {
  const byUri = new Map<string, HunkRow[]>();
  for (const { uri, hunk } of undecidedHunks(hunks)) {
    const node: HunkRow = { kind: "hunk", uri, hunk, label: hunkTitle(hunk, name) };
    byUri.set(uri, [...(byUri.get(uri) ?? []), node]);
  }
  return [...byUri].map(([uri, nodes]) => {
    const conflicts = nodes.filter(({ hunk }) => hunk.state !== "pending").length;
    const parts = [lineCounts(nodes.map(({ hunk }) => hunk)), counted(nodes.length, "change")];
    const all = [...parts, conflicts > 0 ? counted(conflicts, "conflict") : ""];
    const description = all.filter((part) => part !== "").join(" · ");
    return { kind: "file", uri, description, hunks: nodes };
  });
}
