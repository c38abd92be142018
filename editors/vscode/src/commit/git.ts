/** The parts of the API of VS Code's Git extension (`vscode.git`, version 1) that are used. */

import type { Uri } from "vscode";

export interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): GitApi;
}

export interface GitApi {
  readonly repositories: readonly Repository[];
  /** The innermost repository that contains the file or folder. */
  getRepository(uri: Uri): Repository | null;
}

export interface Repository {
  readonly rootUri: Pick<Uri, "fsPath" | "path" | "toString">;
  readonly inputBox: { value: string };
  readonly state: {
    readonly indexChanges: readonly GitChange[];
    readonly workingTreeChanges: readonly GitChange[];
    readonly mergeChanges: readonly GitChange[];
    /** New files, if the setting `git.untrackedChanges` shows them apart. */
    readonly untrackedChanges?: readonly GitChange[];
  };
  /** Reads the state again. */
  status(): Promise<void>;
  /** The staged diff of a file. */
  diffIndexWithHEAD(path: string): Promise<string>;
  /** The diff of a file that is not staged. */
  diffWithHEAD(path: string): Promise<string>;
  diffBlobs(first: string, second: string): Promise<string>;
  /** `treeish` "" is the index. */
  getObjectDetails(treeish: string, path: string): Promise<{ readonly object: string }>;
  log(options: { readonly maxEntries: number }): Promise<readonly { readonly message: string }[]>;
}

export interface GitChange {
  /** Before a rename. */
  readonly originalUri: Pick<Uri, "fsPath" | "path">;
  readonly uri: Pick<Uri, "fsPath" | "path">;
  readonly renameUri?: Pick<Uri, "fsPath" | "path"> | undefined;
  readonly status: number;
}

/** The values of `status` that matter here. */
export const STATUS = { indexAdded: 1, indexDeleted: 2, indexRenamed: 3, indexCopied: 4, deleted: 6, untracked: 7, intentToAdd: 9, intentToRename: 10 } as const;
