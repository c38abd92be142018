/** What a commit would contain, for the model that writes its message. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFiles, recentSubjects } from "../../src/commit/changes";
import { type GitChange, type Repository, STATUS } from "../../src/commit/git";

const MODIFIED = 5;

function uri(path: string): GitChange["uri"] {
  return { fsPath: `/repo/${path}`, path: `/repo/${path}` };
}

function change(path: string, status: number, before = path): GitChange {
  return { uri: uri(before), originalUri: uri(before), status, ...(before !== path && { renameUri: uri(path) }) };
}

/** Its diffs say which command of Git made them. */
function repository(state: Partial<Repository["state"]>, subjects: readonly string[] | Error = []): Repository {
  return {
    rootUri: { fsPath: "/repo", path: "/repo" },
    inputBox: { value: "" },
    state: { indexChanges: [], workingTreeChanges: [], mergeChanges: [], ...state },
    status: () => Promise.resolve(),
    diffIndexWithHEAD: (path) => Promise.resolve(`staged ${path}`),
    diffWithHEAD: (path) => (path.includes("broken") ? Promise.reject(new Error("not in the cache")) : Promise.resolve(`changed ${path}`)),
    diffBlobs: (first, second) => Promise.resolve(`${first}..${second}`),
    getObjectDetails: (treeish, path) => Promise.resolve({ object: path.includes("same") ? "blob" : `${treeish}:${path}` }),
    log: () => (subjects instanceof Error ? Promise.reject(subjects) : Promise.resolve(subjects.map((message) => ({ message })))),
  };
}

test("only what is staged, if something is", async () => {
  const state = { indexChanges: [change("a.ts", STATUS.indexAdded), change("b.ts", STATUS.indexDeleted)], workingTreeChanges: [change("c.ts", MODIFIED)] };
  assert.deepEqual(await changedFiles(repository(state)), [
    { path: "a.ts", change: "added", diff: "staged /repo/a.ts" },
    { path: "b.ts", change: "deleted", diff: "staged /repo/b.ts" },
  ]);
});

test("else all changes; of new files, and of files without a diff, only the name", async () => {
  const state = {
    workingTreeChanges: [change("src/c.ts", MODIFIED), change("new.ts", STATUS.untracked), change("broken.ts", STATUS.deleted)],
    mergeChanges: [change("both.ts", 18)],
    untrackedChanges: [change("newer.ts", STATUS.untracked)],
  };
  assert.deepEqual(await changedFiles(repository(state)), [
    { path: "both.ts", change: "modified", diff: "changed /repo/both.ts" },
    { path: "src/c.ts", change: "modified", diff: "changed /repo/src/c.ts" },
    { path: "new.ts", change: "added" },
    { path: "broken.ts", change: "deleted" },
    { path: "newer.ts", change: "added" },
  ]);
});

test("of a renamed file, what changed in it and both names", async () => {
  const state = { indexChanges: [change("new.ts", STATUS.indexRenamed, "old.ts"), change("same2.ts", STATUS.indexRenamed, "same.ts")] };
  assert.deepEqual(await changedFiles(repository(state)), [
    { path: "new.ts", change: "renamed", previousPath: "old.ts", diff: "HEAD:/repo/old.ts..:/repo/new.ts" },
    { path: "same2.ts", change: "renamed", previousPath: "same.ts", diff: "" },
  ]);
});

test("of very many files, the diffs of the first; a stop asks Git for no more", async () => {
  const many = repository({ indexChanges: Array.from({ length: 150 }, (_, number) => change(`${number}.ts`, STATUS.indexAdded)) });
  const files = await changedFiles(many);
  assert.equal(files.length, 150);
  assert.equal(files.filter(({ diff }) => diff !== undefined).length, 100);
  const stopped = await changedFiles(many, AbortSignal.abort());
  assert.ok(stopped.every(({ diff }) => diff === undefined));
});

test("the first lines of the last messages; none before the first commit", async () => {
  assert.deepEqual(await recentSubjects(repository({}, ["feat: one\n\nmore", "fix: two"])), ["feat: one", "fix: two"]);
  assert.deepEqual(await recentSubjects(repository({}, new Error("no commits yet"))), []);
});
