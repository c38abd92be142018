/** What a commit would contain: the staged changes, or all changes if nothing is staged. */

import { type GitChange, type Repository, STATUS } from "./git";

const MOST_DIFFS = 100; // each needs a run of Git; for further files, only the name is sent
const LONGEST_DIFF = 50_000; // characters; the server shows less of it
const MOST_SUBJECTS = 10;

type ChangeKind = "added" | "modified" | "deleted" | "renamed";

/** A file in `tark.commitMessage` of docs/protocol.md. Without `diff`, the model gets only its name. */
export interface ChangedFile {
  readonly path: string;
  readonly previousPath?: string;
  readonly change: ChangeKind;
  readonly diff?: string;
}

const KINDS: ReadonlyMap<number, ChangeKind> = new Map([
  [STATUS.indexAdded, "added"],
  [STATUS.indexCopied, "added"],
  [STATUS.untracked, "added"],
  [STATUS.intentToAdd, "added"],
  [STATUS.indexDeleted, "deleted"],
  [STATUS.deleted, "deleted"],
  [STATUS.indexRenamed, "renamed"],
  [STATUS.intentToRename, "renamed"],
]);

/** Git has no diff for a new file that is not staged, so only its name is sent. */
export async function changedFiles(repository: Repository, signal?: AbortSignal): Promise<ChangedFile[]> {
  const { indexChanges, workingTreeChanges, mergeChanges, untrackedChanges = [] } = repository.state;
  const staged = indexChanges.length > 0;
  const changes = staged ? indexChanges : [...mergeChanges, ...workingTreeChanges, ...untrackedChanges];
  const files: ChangedFile[] = [];
  for (const change of changes) {
    const wanted = files.length < MOST_DIFFS && change.status !== STATUS.untracked && signal?.aborted !== true;
    const diff = wanted ? await diffOf(repository, change, staged).catch(() => undefined) : undefined;
    files.push({ ...namesOf(repository, change), ...(diff !== undefined && { diff: diff.slice(0, LONGEST_DIFF) }) });
  }
  return files;
}

/** The first lines of the last commits. A repository without commits has none. */
export async function recentSubjects(repository: Repository): Promise<string[]> {
  const commits = await repository.log({ maxEntries: MOST_SUBJECTS }).catch(() => []);
  return commits.map(({ message }) => message.split("\n", 1)[0]!);
}

async function diffOf(repository: Repository, change: GitChange, staged: boolean): Promise<string> {
  if (change.status === STATUS.indexRenamed) {
    const before = await repository.getObjectDetails("HEAD", change.originalUri.fsPath);
    const now = await repository.getObjectDetails("", newUri(change).fsPath);
    return before.object === now.object ? "" : repository.diffBlobs(before.object, now.object);
  }
  return staged ? repository.diffIndexWithHEAD(change.uri.fsPath) : repository.diffWithHEAD(change.uri.fsPath);
}

function namesOf({ rootUri }: Repository, change: GitChange): Omit<ChangedFile, "diff"> {
  const kind = KINDS.get(change.status) ?? "modified";
  const nameOf = ({ path }: { readonly path: string }): string => path.slice(rootUri.path.replace(/\/$/, "").length + 1);
  return { path: nameOf(newUri(change)), change: kind, ...(kind === "renamed" && { previousPath: nameOf(change.originalUri) }) };
}

function newUri(change: GitChange): GitChange["uri"] {
  return change.renameUri ?? change.uri;
}
