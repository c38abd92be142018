/** What the list of changes shows: what waits for an answer, then files with their hunks. Pure. */

import type { DocumentHunks, Input, Permission } from "../model/protocol";
import { line, short } from "../text/visible";
import { allWaiting, plural, size, title, type Name, type WaitingHunk } from "./words";

export interface Question {
  readonly kind: "permission" | "input";
  readonly requestId: string;
  readonly label: string;
  readonly description: string;
}

export interface File {
  readonly kind: "file";
  readonly uri: string;
  readonly description: string;
  readonly hunks: readonly HunkNode[];
}

export interface HunkNode extends WaitingHunk {
  readonly kind: "hunk";
  readonly label: string;
}

export type Node = Question | File | HunkNode;

const LONGEST = 100;

export function questions(permissions: readonly Permission[], inputs: readonly Input[]): Question[] {
  return [
    ...permissions.map((request) => ({
      kind: "permission" as const,
      requestId: request.requestId,
      label: short(request.title, LONGEST),
      description: `asked because ${line(request.why)}`,
    })),
    ...inputs.map((request) => ({
      kind: "input" as const,
      requestId: request.requestId,
      label: short(request.question.trim(), LONGEST),
      description: "a question",
    })),
  ];
}

export function files(hunks: ReadonlyMap<string, DocumentHunks>, name: Name): File[] {
  const byUri = new Map<string, HunkNode[]>();
  for (const { uri, hunk } of allWaiting(hunks)) {
    const node: HunkNode = { kind: "hunk", uri, hunk, label: title(hunk, name) };
    byUri.set(uri, [...(byUri.get(uri) ?? []), node]);
  }
  return [...byUri].map(([uri, nodes]) => {
    const conflicts = nodes.filter(({ hunk }) => hunk.state !== "pending").length;
    const parts = [size(nodes.map(({ hunk }) => hunk)), plural(nodes.length, "change")];
    const all = [...parts, conflicts > 0 ? plural(conflicts, "conflict") : ""];
    const description = all.filter((part) => part !== "").join(" · ");
    return { kind: "file", uri, description, hunks: nodes };
  });
}
