/** What the server tells enters the state as docs/clients.md has it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk, Permission, Session } from "../../src/model/protocol";
import { RunningTurns } from "../../src/model/runningTurns";
import { State, type StateEvents } from "../../src/model/state";
import type { Update } from "../../src/model/transcriptTypes";
import { Updates } from "../../src/model/updates";
import { TakenBack, Waiting } from "../../src/asking/waiting";

function begun() {
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
  state.on(name, (told) => all.push(told));
  return all;
}

function hunk(hunkId: string, state: Hunk["state"] = "pending"): Hunk {
  const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } };
  return { hunkId, turnId: "t1", range, oldText: "a\n", newText: "b\n", applied: false, state };
}

function told(updates: Updates, seq: number, update: Update): void {
  updates.received({ sessionId: "s1", turnId: "t1", seq, update });
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

test("a listener that was disposed hears nothing; one that fails keeps no other from hearing", () => {
  const problems: unknown[] = [];
  const state = new State((problem) => problems.push(problem));
  state.on("session", () => assert.fail("mine"));
  const all = heard(state, "session");
  const listening = state.on("session", () => assert.equal(state.sessionId, "s1"));
  state.goOn("s1");
  listening.dispose();
  state.goOn(undefined);
  assert.deepEqual(all, [{ sessionId: "s1" }, {}]);
  assert.equal(problems.length, 2);
});

test("hunks: undecided ones are kept, by the editor's own spelling", () => {
  const { state, updates } = begun();
  const all = heard(state, "hunks");
  updates.hunks({ uri: "FILE:///a.py", version: 1, hunks: [hunk("h1"), hunk("h2", "accepted"), hunk("h3", "conflict")] });
  assert.deepEqual(state.hunks.get("file:///a.py")?.hunks.map(({ hunkId }) => hunkId), ["h1", "h3"]);
  updates.hunks({ uri: "file:///a.py", version: 2, hunks: [hunk("h1", "rejected"), hunk("h3", "accepted")] });
  assert.equal(state.hunks.size, 0);
  assert.equal(all.length, 2);
});

test("hunks that are told of under another name have left the former", () => {
  const { state, updates } = begun();
  updates.hunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1"), hunk("h2")] });
  updates.hunks({ uri: "file:///b.py", version: 1, hunks: [hunk("h2")] });
  assert.deepEqual(state.hunks.get("file:///a.py")?.hunks.map(({ hunkId }) => hunkId), ["h1"]);
  assert.deepEqual(state.hunks.get("file:///b.py")?.hunks.map(({ hunkId }) => hunkId), ["h2"]);
});

test("the list of all hunks takes away those it does not have", () => {
  const { state, updates } = begun();
  updates.hunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1")] });
  updates.allHunks([{ ...hunk("h2"), uri: "file:///b.py", version: 3 }]);
  assert.deepEqual([...state.hunks.keys()], ["file:///b.py"]);
  assert.equal(state.hunks.get("file:///b.py")?.version, 3);
});

test("hunks of a waiting permission that were decided one by one", () => {
  const { state, updates } = begun();
  state.permissions = [permission("r1", [hunk("h1"), hunk("h2")])];
  updates.hunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1", "accepted"), hunk("h2")] });
  const hunks = state.permissions[0]?.edits?.[0]?.hunks ?? [];
  assert.deepEqual(hunks.map((each) => each.state), ["accepted", "pending"]);
});

test("a gap asks for the session anew; hunks of a deleted session make no transcript", () => {
  const { state, updates, reloaded } = begun();
  told(updates, 1, { kind: "start", prompt: "hi" });
  told(updates, 3, { kind: "text", delta: "lo" });
  assert.deepEqual(reloaded, ["s1"]);
  updates.received({ sessionId: "", turnId: "t9", seq: 1, update: { kind: "hunks", uri: "file:///a.py", hunks: [hunk("h1")] } });
  assert.deepEqual([...state.transcripts.keys()], ["s1"]);
  assert.equal(state.hunks.size, 1);
});

test("what a person asked shows at once, and what they said to a running turn", () => {
  const { state, updates } = begun();
  const all = heard(state, "update");
  updates.asked({ sessionId: "s1", turnId: "t1" }, "tidy up");
  told(updates, 1, { kind: "start", prompt: "tidy up" });
  updates.steered({ sessionId: "s1", turnId: "t1" }, "only a.py");
  const turn = state.transcripts.get("s1")?.turns[0];
  assert.equal(turn?.prompt, "tidy up");
  assert.deepEqual(turn.blocks, [{ kind: "prompt", text: "only a.py" }]);
  assert.deepEqual(all.map(({ params }) => params.update.kind), ["asked", "start", "steered"]);
});

test("the server died: turns are cut, nothing waits, hunks are told of anew", () => {
  const { state, updates } = begun();
  const running = new RunningTurns(state);
  told(updates, 1, { kind: "start", prompt: "hi" });
  updates.hunks({ uri: "file:///a.py", version: 1, hunks: [hunk("h1")] });
  state.permissions = [permission("r1")];
  assert.equal(running.count, 1);
  assert.equal(updates.interrupted(), 1);
  assert.equal(state.transcripts.get("s1")?.turns[0]?.error?.code, "interrupted");
  assert.equal(running.count, 0);
  assert.equal(state.permissions.length + state.hunks.size, 0);
});

test("sessions are merged, and the current one is left when it is deleted", () => {
  const { state, updates } = begun();
  const session = { sessionId: "s1", title: "One", turns: 1 } as Session;
  updates.session(session);
  updates.refreshed({ sessions: [{ ...session, title: "Two" }], settings: { mode: "plan" } });
  assert.equal(state.sessions.get("s1")?.title, "Two");
  assert.equal(state.settings?.mode, "plan");
  state.goOn("s1");
  updates.deleted("s1");
  assert.equal(state.sessionId, undefined);
  assert.equal(state.sessions.size, 0);
});

const never = { onCancellationRequested: () => ({ dispose: () => undefined }) };

test("a permission waits in the state, and is answered once", async () => {
  const { state } = begun();
  const waiting = new Waiting(state, () => Promise.reject(new Error("it came as a request")));
  const asked = waiting.ask("permission", permission("r1"), never);
  assert.deepEqual(state.permissions.map(({ requestId }) => requestId), ["r1"]);
  assert.equal(await waiting.answer("permission", "r1", { outcome: "allow" }), true);
  assert.deepEqual(await asked, { outcome: "allow" });
  assert.equal(await waiting.answer("permission", "r1", { outcome: "reject" }), false);
  assert.equal(state.permissions.length, 0);
});

test("a permission that is asked anew takes the place of the former", async () => {
  const { state } = begun();
  const waiting = new Waiting(state, () => Promise.resolve(null));
  const former = waiting.ask("permission", permission("r1"), never);
  const other = waiting.ask("permission", { ...permission("r1"), digest: "e" }, never);
  await assert.rejects(former, TakenBack);
  assert.deepEqual(state.permissions.map(({ digest }) => digest), ["e"]);
  await waiting.answer("permission", "r1", { outcome: "reject" });
  assert.deepEqual(await other, { outcome: "reject" });
});

test("a permission that is taken back, or whose server ends, does not wait", async () => {
  const { state } = begun();
  const waiting = new Waiting(state, () => Promise.resolve(null));
  let cancel: () => void = () => undefined;
  const token = { onCancellationRequested: (listener: () => void) => ((cancel = listener), { dispose: () => undefined }) };
  const asked = waiting.ask("permission", permission("r1"), token);
  cancel();
  await assert.rejects(asked, TakenBack);
  const other = waiting.ask("permission", permission("r2"), never);
  state.emit("server", { running: false });
  await assert.rejects(other, TakenBack);
  assert.equal(state.permissions.length, 0);
});

test("a permission that is taken back to be asked anew stays in sight, and is not answered meanwhile", async () => {
  const { state } = begun();
  const waiting = new Waiting(state, () => Promise.reject(new Error("it came as a request")));
  let cancel: () => void = () => undefined;
  const token = { onCancellationRequested: (listener: () => void) => ((cancel = listener), { dispose: () => undefined }) };
  const former = waiting.ask("permission", permission("r1"), token);
  const seen: number[] = [];
  state.on("permission", () => seen.push(state.permissions.length));
  cancel();
  await assert.rejects(former, TakenBack);
  assert.equal(await waiting.answer("permission", "r1", { outcome: "allow" }), false);
  const anew = waiting.ask("permission", { ...permission("r1"), digest: "e" }, never);
  assert.deepEqual(seen, [1], "it never left");
  assert.equal(await waiting.answer("permission", "r1", { outcome: "allow" }), true);
  assert.deepEqual(await anew, { outcome: "allow" });
});

test("what was told of by tark.state is answered by its command, with the digest it was shown with", async () => {
  const { state, updates } = begun();
  const sent: unknown[] = [];
  const answers = [Promise.resolve({ accepted: true }), Promise.resolve({ accepted: false }), Promise.reject(new Error("gone"))];
  const waiting = new Waiting(state, async (kind, argument) => {
    sent.push([kind, argument]);
    return (await answers.shift()) ?? null;
  });
  updates.refreshed({ permissions: [permission("r1"), permission("r2"), permission("r3")] });
  assert.equal(await waiting.answer("permission", "r1", { outcome: "allow" }), true);
  assert.deepEqual(sent, [["permission", { outcome: "allow", requestId: "r1", digest: "d" }]]);
  assert.equal(await waiting.answer("permission", "r2", { outcome: "allow" }), false, "it was answered elsewhere");
  await assert.rejects(waiting.answer("permission", "r3", { outcome: "allow" }), /gone/);
  assert.deepEqual(state.permissions.map(({ requestId }) => requestId), ["r3"], "it waits as before");
});

test("which turns run, and since when", () => {
  const { state, updates } = begun();
  let now = 5;
  const running = new RunningTurns(state, () => now);
  running.started({ sessionId: "s1", turnId: "t0", queued: 1 });
  assert.equal(running.isRunning("s1"), false);
  now = 9;
  told(updates, 1, { kind: "start", prompt: "hi" });
  assert.deepEqual([running.count, running.began, running.isRunning("s1")], [2, 5, true]);
  told(updates, 2, { kind: "end", stopReason: "end_turn" });
  assert.deepEqual([running.count, running.isRunning("s1")], [1, false]);
});

test("of sessions that one has left only those that run are kept", () => {
  const { state, updates } = begun();
  for (const sessionId of ["s1", "s2", "s3"]) {
    updates.asked({ sessionId, turnId: `of ${sessionId}` }, "hello");
  }
  updates.received({ sessionId: "s1", turnId: "of s1", seq: 1, update: { kind: "end", stopReason: "end_turn", text: "", edits: [] } });
  updates.received({ sessionId: "s2", turnId: "of s2", seq: 1, update: { kind: "end", stopReason: "end_turn", text: "", edits: [] } });
  state.goOn("s2");
  assert.deepEqual([...state.transcripts.keys()], ["s2", "s3"]);
});
