/** Messages of the server change the state as docs/clients.md describes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk, Permission, Session } from "../../src/model/protocol";
import { RunningTurns } from "../../src/model/runningTurns";
import { State, type StateEvents } from "../../src/model/state";
import type { Update } from "../../src/model/transcriptTurn";
import { Updates } from "../../src/model/updates";
import { WithdrawnError, PendingRequests } from "../../src/model/pendingRequests";

function newState() {
  const state = new State();
  const reloaded: string[] = [];
  const updates = new Updates(
    state,
    (uri) => uri.replace("FILE:", "file:"),
    (sessionId) => reloaded.push(sessionId),
  );
  return { state, updates, reloaded };
}

function heard<Name extends keyof StateEvents>(state: State, name: Name): StateEvents[Name][] {
  const all: StateEvents[Name][] = [];
  state.on(name, (event) => all.push(event));
  return all;
}

function hunk(hunkId: string, state: Hunk["state"] = "pending"): Hunk {
  const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } };
  return { hunkId, turnId: "t1", range, oldText: "a\n", newText: "b\n", applied: false, state };
}

function told(updates: Updates, seq: number, update: Update): void {
  updates.applyUpdate({ sessionId: "s1", turnId: "t1", seq, update });
}

const permission = (requestId: string, hunks: Hunk[] = []): Permission => ({
  requestId,
  sessionId: "s1",
  turnId: "t1",
  title: "edit a.py",
  toolKind: "edit",
  risk: "write",
  why: "",
  digest: "d",
  edits: [{ uri: "file:///a.py", hunks }],
  grants: [],
});

test("a disposed listener is not called; one that fails does not stop the others", () => {
  const problems: unknown[] = [];
  const state = new State((problem) => problems.push(problem));
  state.on("session", () => assert.fail("mine"));
  const all = heard(state, "session");
  const listening = state.on("session", () => assert.equal(state.sessionId, "s1"));
  state.setCurrentSession("s1");
  listening.dispose();
  state.setCurrentSession(undefined);
  assert.deepEqual(all, [{ sessionId: "s1" }, {}]);
  assert.equal(problems.length, 2);
});

test("undecided hunks are kept by the editor's spelling of the URI", () => {
  const { state, updates } = newState();
  const all = heard(state, "hunks");
  updates.setDocumentHunks({ uri: "FILE:///a.py", version: 1, hunks: [hunk("h1"), hunk("h2", "accepted"), hunk("h3", "conflict")] });
  assert.deepEqual(state.hunks.get("file:///a.py")?.hunks.map(({ hunkId }) => hunkId), ["h1", "h3"]);
  updates.setDocumentHunks({ uri: "file:///a.py", version: 2, hunks: [hunk("h1", "rejected"), hunk("h3", "accepted")] });
  assert.equal(state.hunks.size, 0);
  assert.equal(all.length, 2);
});

test("hunks reported under another URI are removed from the former one", () => {
  const { state, updates } = newState();
  updates.setDocumentHunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1"), hunk("h2")] });
  updates.setDocumentHunks({ uri: "file:///b.py", version: 1, hunks: [hunk("h2")] });
  assert.deepEqual(state.hunks.get("file:///a.py")?.hunks.map(({ hunkId }) => hunkId), ["h1"]);
  assert.deepEqual(state.hunks.get("file:///b.py")?.hunks.map(({ hunkId }) => hunkId), ["h2"]);
});

test("the list of all hunks removes the missing ones", () => {
  const { state, updates } = newState();
  updates.setDocumentHunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1")] });
  updates.setAllHunks([{ ...hunk("h2"), uri: "file:///b.py", version: 3 }]);
  assert.deepEqual([...state.hunks.keys()], ["file:///b.py"]);
  assert.equal(state.hunks.get("file:///b.py")?.version, 3);
});

test("hunks of a pending permission request that were decided one by one", () => {
  const { state, updates } = newState();
  state.permissions = [permission("r1", [hunk("h1"), hunk("h2")])];
  updates.setDocumentHunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1", "accepted"), hunk("h2")] });
  const hunks = state.permissions[0]?.edits?.[0]?.hunks ?? [];
  assert.deepEqual(hunks.map(({ state: now }) => now), ["accepted", "pending"]);
});

test("a gap reloads the session; hunks of a deleted session create no transcript", () => {
  const { state, updates, reloaded } = newState();
  told(updates, 1, { kind: "start", prompt: "hi" });
  told(updates, 3, { kind: "text", delta: "lo" });
  assert.deepEqual(reloaded, ["s1"]);
  updates.applyUpdate({ sessionId: "", turnId: "t9", seq: 1, update: { kind: "hunks", uri: "file:///a.py", hunks: [hunk("h1")] } });
  assert.deepEqual([...state.transcripts.keys()], ["s1"]);
  assert.equal(state.hunks.size, 1);
});

test("a prompt is visible at once, and so is one for the running turn", () => {
  const { state, updates } = newState();
  const all = heard(state, "update");
  updates.addQueuedTurn({ sessionId: "s1", turnId: "t1" }, "tidy up");
  told(updates, 1, { kind: "start", prompt: "tidy up" });
  updates.addSteer({ sessionId: "s1", turnId: "t1" }, "only a.py");
  const turn = state.transcripts.get("s1")?.turns[0];
  assert.equal(turn?.prompt, "tidy up");
  assert.deepEqual(turn.blocks, [{ kind: "prompt", text: "only a.py" }]);
  assert.deepEqual(all.map(({ params }) => params.update.kind), ["asked", "start", "steered"]);
});

test("after the server died, turns are interrupted, and requests and hunks are dropped", () => {
  const { state, updates } = newState();
  const running = new RunningTurns(state);
  told(updates, 1, { kind: "start", prompt: "hi" });
  updates.setDocumentHunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1")] });
  state.permissions = [permission("r1")];
  assert.equal(running.count, 1);
  assert.equal(updates.interruptAll(), 1);
  assert.equal(state.transcripts.get("s1")?.turns[0]?.error?.code, "interrupted");
  assert.equal(running.count, 0);
  assert.equal(state.permissions.length + state.hunks.size, 0);
});

test("the next server says how the calls of an interrupted turn ended: an edit can wait, and is not cancelled", () => {
  const { updates, reloaded } = newState();
  told(updates, 1, { kind: "start", prompt: "hi" });
  updates.interruptAll();
  assert.deepEqual(reloaded, [], "no server runs");
  updates.applyServerState({});
  updates.applyServerState({});
  assert.deepEqual(reloaded, ["s1"]);
});

test("sessions are merged, and a deleted session is no longer current", () => {
  const { state, updates } = newState();
  const session = { sessionId: "s1", title: "One", turns: 1 } as Session;
  updates.updateSession(session);
  updates.applyServerState({ sessions: [{ ...session, title: "Two" }], settings: { mode: "plan" } });
  assert.equal(state.sessions.get("s1")?.title, "Two");
  assert.equal(state.settings?.mode, "plan");
  state.setCurrentSession("s1");
  updates.removeSession("s1");
  assert.equal(state.sessionId, undefined);
  assert.equal(state.sessions.size, 0);
});

const never = { onCancellationRequested: () => ({ dispose: () => undefined }) };

test("a permission request waits in the state, and is answered once", async () => {
  const { state } = newState();
  const waiting = new PendingRequests(state, () => Promise.reject(new Error("it came as a request")));
  const asked = waiting.addRequest("permission", permission("r1"), never);
  assert.deepEqual(state.permissions.map(({ requestId }) => requestId), ["r1"]);
  assert.equal(await waiting.answerRequest("permission", "r1", { outcome: "allow" }), true);
  assert.deepEqual(await asked, { outcome: "allow" });
  assert.equal(await waiting.answerRequest("permission", "r1", { outcome: "reject" }), false);
  assert.equal(state.permissions.length, 0);
});

test("a repeated permission request replaces the former one", async () => {
  const { state } = newState();
  const waiting = new PendingRequests(state, () => Promise.resolve(null));
  const former = waiting.addRequest("permission", permission("r1"), never);
  const other = waiting.addRequest("permission", { ...permission("r1"), digest: "e" }, never);
  await assert.rejects(former, WithdrawnError);
  assert.deepEqual(state.permissions.map(({ digest }) => digest), ["e"]);
  await waiting.answerRequest("permission", "r1", { outcome: "reject" });
  assert.deepEqual(await other, { outcome: "reject" });
});

test("a permission request that is withdrawn, or whose server ends, no longer waits", async () => {
  const { state } = newState();
  const waiting = new PendingRequests(state, () => Promise.resolve(null));
  let cancel: () => void = () => undefined;
  const token = { onCancellationRequested: (listener: () => void) => ((cancel = listener), { dispose: () => undefined }) };
  const asked = waiting.addRequest("permission", permission("r1"), token);
  cancel();
  await assert.rejects(asked, WithdrawnError);
  const other = waiting.addRequest("permission", permission("r2"), never);
  state.emit("server", { running: false });
  await assert.rejects(other, WithdrawnError);
  assert.equal(state.permissions.length, 0);
});

test("a permission request that is withdrawn and repeated stays visible, and cannot be answered meanwhile", async () => {
  const { state } = newState();
  const waiting = new PendingRequests(state, () => Promise.reject(new Error("it came as a request")));
  let cancel: () => void = () => undefined;
  const token = { onCancellationRequested: (listener: () => void) => ((cancel = listener), { dispose: () => undefined }) };
  const former = waiting.addRequest("permission", permission("r1"), token);
  const seen: number[] = [];
  state.on("permission", () => seen.push(state.permissions.length));
  cancel();
  await assert.rejects(former, WithdrawnError);
  assert.equal(await waiting.answerRequest("permission", "r1", { outcome: "allow" }), false);
  const repeated = waiting.addRequest("permission", { ...permission("r1"), digest: "e" }, never);
  assert.deepEqual(seen, [1], "it never left");
  assert.equal(await waiting.answerRequest("permission", "r1", { outcome: "allow" }), true);
  assert.deepEqual(await repeated, { outcome: "allow" });
});

test("a request from tark.state is answered by its command, with the shown digest", async () => {
  const { state, updates } = newState();
  const sent: unknown[] = [];
  const answers = [Promise.resolve({ accepted: true }), Promise.resolve({ accepted: false }), Promise.reject(new Error("gone"))];
  const waiting = new PendingRequests(state, async (kind, argument) => {
    sent.push([kind, argument]);
    return (await answers.shift()) ?? null;
  });
  updates.applyServerState({ permissions: [permission("r1"), permission("r2"), permission("r3")] });
  assert.equal(await waiting.answerRequest("permission", "r1", { outcome: "allow" }), true);
  assert.deepEqual(sent, [["permission", { outcome: "allow", requestId: "r1", digest: "d" }]]);
  assert.equal(await waiting.answerRequest("permission", "r2", { outcome: "allow" }), false, "it was answered elsewhere");
  await assert.rejects(waiting.answerRequest("permission", "r3", { outcome: "allow" }), /gone/);
  assert.deepEqual(state.permissions.map(({ requestId }) => requestId), ["r3"], "it still waits");
});

test("which turns run, and since when", () => {
  const { state, updates } = newState();
  let now = 5;
  const running = new RunningTurns(state, () => now);
  running.addTurn({ sessionId: "s1", turnId: "t0", queued: 1 });
  assert.equal(running.isRunning("s1"), false);
  now = 9;
  told(updates, 1, { kind: "start", prompt: "hi" });
  assert.deepEqual([running.count, running.oldestStart, running.isRunning("s1")], [2, 5, true]);
  told(updates, 2, { kind: "end", stopReason: "end_turn" });
  assert.deepEqual([running.count, running.isRunning("s1")], [1, false]);
});

test("of other sessions, only those with running turns are kept", () => {
  const { state, updates } = newState();
  for (const sessionId of ["s1", "s2", "s3"]) {
    updates.addQueuedTurn({ sessionId, turnId: `of ${sessionId}` }, "hello");
  }
  updates.applyUpdate({ sessionId: "s1", turnId: "of s1", seq: 1, update: { kind: "end", stopReason: "end_turn", text: "", edits: [] } });
  updates.applyUpdate({ sessionId: "s2", turnId: "of s2", seq: 1, update: { kind: "end", stopReason: "end_turn", text: "", edits: [] } });
  state.setCurrentSession("s2");
  assert.deepEqual([...state.transcripts.keys()], ["s2", "s3"]);
});
