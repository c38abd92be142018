/** The extension's side of the chat: sending prompts, resolving links, what the page may load. */

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { completionRows, positionAt } from "../../src/chat/completionRows";
import { pageHtml } from "../../src/chat/html";
import { newFileInFolders, resolveInFolders } from "../../src/chat/workspaceFiles";
import { Outbox, type OutgoingMessage, type OutboxActions } from "../../src/chat/outbox";
import { permissionRow, sessionRow, statusOf } from "../../src/chat/pageRows";
import type { Permission, Session } from "../../src/model/protocol";
import { State } from "../../src/model/state";
import { newTranscript, reduce } from "../../src/model/transcript";

test("only files inside the workspace are found", async () => {
  const root = await mkdtemp(join(tmpdir(), "tark-"));
  const [folder, outside] = [join(root, "ws"), join(root, "secret.txt")];
  await mkdir(join(folder, "src"), { recursive: true });
  await writeFile(outside, "x");
  await writeFile(join(folder, "src", "a.py"), "x");
  await writeFile(join(folder, "..b"), "x");
  await symlink(outside, join(folder, "link.txt"));
  const found = (named: string): Promise<string | undefined> => resolveInFolders([folder], named);
  assert.equal(await found("src/a.py"), join(folder, "src", "a.py"));
  assert.equal(await found(join(folder, "src", "a.py")), join(folder, "src", "a.py"));
  assert.equal(await found("..b"), join(folder, "..b"));
  for (const named of ["../secret.txt", outside, "link.txt", "src", "", ".", "none.py", "//host/share", "\\\\host\\share", "a\0b", "src/../../secret.txt"]) {
    assert.equal(await found(named), undefined, named);
  }
  await symlink(root, join(folder, "out"));
  const fresh = (named: string): Promise<string | undefined> => newFileInFolders([folder], named);
  assert.equal(await fresh("new.py"), join(folder, "new.py"));
  assert.equal(await fresh("src/deep/new.py"), join(folder, "src", "deep", "new.py"));
  for (const named of ["src/a.py", "link.txt", "../new.py", "out/new.py", "out/a/new.py", "src", "", join(folder, "new.py"), "file:///new.py", "C:\\new.py", "a\0b", "src/a.py/b.py/../../../../new.py"]) {
    assert.equal(await fresh(named), undefined, named);
  }
  assert.equal(await newFileInFolders([], "new.py"), undefined);
  await rm(root, { recursive: true });
});

interface Log {
  readonly out: string[];
  readonly refused: [OutgoingMessage, string][];
}

function outbox(ways: Partial<OutboxActions> = {}): { box: Outbox; state: State; log: Log; idle: () => Promise<void> } {
  const state = new State();
  const log: Log = { out: [], refused: [] };
  const box = new Outbox(
    {
      state,
      place: state.place,
      takeContext: () => ({ attached: [] }),
      start: (prompt, sessionId, _document, kind) => {
        log.out.push(`start ${prompt} in ${sessionId ?? "a new one"}${kind === undefined ? "" : ` to ${kind}`}`);
        return Promise.resolve({ sessionId: sessionId ?? "begun", turnId: "t" });
      },
      newSession: () => Promise.resolve("its own"),
      steer: (turn, prompt) => Promise.resolve(log.out.push(`steer ${turn.turnId} ${prompt}`) > 0),
      forkBefore: (sessionId, turnId) => Promise.resolve(`${sessionId} before ${turnId}`),
      ...ways,
    },
    () => undefined,
    (message, problem) => log.refused.push([message, problem]),
  );
  const idle = async (): Promise<void> => {
    while (box.heads.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  return { box, state, log, idle };
}

test("prompts are sent in order, and are visible until they are accepted", async () => {
  const { box, log, idle } = outbox();
  box.addMessage({ words: "one" });
  box.addMessage({ words: "two" });
  assert.deepEqual(box.heads.map(({ prompt, state }) => [prompt, state]), [["one", "sending"], ["two", "sending"]]);
  await idle();
  assert.deepEqual(log.out, ["start one in a new one", "start two in begun"]);
});

test("a rejected prompt comes back, and the next one is sent", async () => {
  const { box, log, idle } = outbox({
    start: (prompt) => (prompt === "bad" ? Promise.reject(new Error("too long")) : Promise.resolve({ sessionId: "s", turnId: "t" })),
  });
  box.addMessage({ words: "bad" });
  box.addMessage({ words: "good" });
  await idle();
  assert.deepEqual(log.refused, [[{ words: "bad" }, "too long"]]);
});

test("a prompt in place of an earlier one goes to a new session", async () => {
  const { box, state, log, idle } = outbox();
  state.setCurrentSession("s1");
  box.addMessage({ words: "again", instead: { sessionId: "s1", turnId: "t1", turnKind: "ask" } });
  await idle();
  assert.deepEqual([log.out, state.sessionId], [["start again in s1 before t1 to ask"], "s1 before t1"]);
});

test("a rejected prompt leaves the user in the current session", async () => {
  const { box, state, log, idle } = outbox({ start: () => Promise.reject(new Error("no")) });
  state.setCurrentSession("s1");
  box.addMessage({ words: "again", instead: { sessionId: "s1", turnId: "t1", turnKind: "ask" } });
  await idle();
  assert.deepEqual([state.sessionId, log.refused.length], ["s1", 1]);
});

test("a prompt goes to the session in which it was typed, even if the user has left it", async () => {
  const { box, state, log, idle } = outbox();
  state.setCurrentSession("a");
  box.addMessage({ words: "one" });
  box.addMessage({ words: "two" });
  state.setCurrentSession(undefined);
  box.addMessage({ words: "three" });
  box.addMessage({ words: "four" });
  state.setCurrentSession("b");
  assert.deepEqual(box.heads, []);
  while (log.out.length < 4) {
    await idle();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.deepEqual(log.out, ["start one in a", "start two in a", "start three in its own", "start four in its own"]);
});

test("a new chat that is opened while a prompt is on its way gets the next prompt, and stays", async () => {
  const accept: (() => void)[] = [];
  const sent: string[] = [];
  const { box, state, idle } = outbox({
    start: async (prompt, sessionId) => {
      const { visit } = state.place;
      sent.push(`${prompt} in ${sessionId ?? "a new one"}`);
      await new Promise<void>((resolve) => accept.push(resolve));
      state.followPrompt(state.place, visit, sessionId, `of ${prompt}`); // as turns/turns.ts does
      return { sessionId: sessionId ?? `of ${prompt}`, turnId: "t" };
    },
  });
  box.addMessage({ words: "A" }); // the server is still starting
  state.setCurrentSession(undefined); // the button "+"
  assert.deepEqual(box.heads, []);
  box.addMessage({ words: "B" });
  box.addMessage({ words: "C" });
  state.setCurrentSession(undefined);
  box.addMessage({ words: "D" });
  for (const step of ["A", "B", "C"]) {
    assert.equal(state.sessionId, undefined, step);
    accept.shift()!();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  accept.shift()!();
  await idle();
  assert.deepEqual(sent, ["A in a new one", "B in its own", "C in its own", "D in a new one"]);
  assert.equal(state.sessionId, "of D");
});

test("a prompt for the running turn is sent to it; if none runs, it starts a turn", async () => {
  const { box, state, log, idle } = outbox();
  state.setCurrentSession("s1");
  const transcript = newTranscript("s1");
  state.transcripts.set("s1", transcript);
  box.addMessage({ words: "early", steers: true });
  await idle();
  reduce(transcript, { sessionId: "s1", turnId: "t1", seq: 1, update: { kind: "start", prompt: "p" } });
  box.addMessage({ words: "now", steers: true });
  await idle();
  assert.deepEqual(log.out, ["start early in s1", "steer t1 now"]);
});

test("a prompt for a turn that has ended comes back", async () => {
  const { box, state, log, idle } = outbox({ steer: () => Promise.resolve(false) });
  state.setCurrentSession("s1");
  const transcript = newTranscript("s1");
  state.transcripts.set("s1", transcript);
  reduce(transcript, { sessionId: "s1", turnId: "t1", seq: 1, update: { kind: "start", prompt: "p" } });
  box.addMessage({ words: "now", steers: true });
  await idle();
  assert.equal(log.refused.length, 1);
});

test("the page loads only two files of the extension", () => {
  const page = pageHtml({ cspSource: "https://own.example", script: "https://own.example/chat.js", style: "https://own.example/chat.css" }, "n0nce");
  assert.match(page, /default-src 'none'; script-src 'nonce-n0nce'; style-src https:\/\/own\.example; img-src data:; base-uri 'none'/);
  assert.doesNotMatch(page, /unsafe/);
  const other = pageHtml({ cspSource: "x", script: "y", style: "z" });
  assert.notEqual(other, pageHtml({ cspSource: "x", script: "y", style: "z" }));
});

test("completions replace the typed prefix", () => {
  const text = "see\n@fi";
  const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } };
  const items = ["@file:", "@dir:"].map((label) => ({ label, filterText: label, textEdit: { newText: label, range } }));
  assert.deepEqual(completionRows(text, 7, { isIncomplete: false, items }), [{ label: "@file:", insert: "@file:", from: 4, to: 7 }]);
  assert.equal(completionRows(text, 7, { isIncomplete: true, items }).length, 2);
  assert.deepEqual(positionAt(text, 7), { line: 1, character: 3 });
});

test("the page gets no more of a permission request than it shows", () => {
  const request: Permission = {
    requestId: "r",
    sessionId: "s",
    turnId: "t",
    title: "run ls",
    toolKind: "execute",
    risk: "risky",
    why: "it runs a command",
    digest: "d",
    command: { argv: ["/bin/bash", "-c", "ls"], text: "ls", cwd: "/ws", env: { SECRET: "x", MORE: "y" } },
    grants: [{ id: "g", covers: "`ls` in this folder, this turn" }],
  };
  const row = permissionRow(request, { SECRET: "x" });
  assert.doesNotMatch(JSON.stringify(row), /SECRET/);
  assert.deepEqual(row.command?.env, ["MORE=y"]);
  assert.equal(row.command.beyond, "");
  const pushed = permissionRow({ ...request, command: { ...request.command!, sandboxed: true, network: true } }, {});
  assert.equal(pushed.command?.beyond, ", with the network");
});

test("the status is that of the session, else the settings of new sessions", () => {
  const state = new State();
  state.settings = { model: "a/b", mode: "build", approval: "careful" };
  assert.deepEqual(statusOf(state, "running", []), {
    server: "running",
    title: "",
    model: "a/b",
    agent: "",
    mode: "build",
    approval: "careful",
    hunks: 0,
    folders: [],
  });
  state.sessions.set("s", { sessionId: "s", title: "Prices", model: "c/d", costUsd: 0.5 } as Session);
  state.setCurrentSession("s");
  const transcript = newTranscript("s");
  state.transcripts.set("s", transcript);
  reduce(transcript, { sessionId: "s", turnId: "t", seq: 1, update: { kind: "usage", contextUsed: 10, contextWindow: 100, costUsd: 0.1 } });
  const status = statusOf(state, "running", []);
  assert.deepEqual([status.title, status.model, status.mode, status.costUsd, status.contextUsed], ["Prices", "c/d", "build", 0.5, 10]);
});

test("with an agent, the status has what the agent makes of the session's settings", () => {
  const state = new State();
  const effective = { model: "c/small", mode: "ask", approval: "manual" };
  state.sessions.set("s", { sessionId: "s", title: "", model: "a/b", mode: "build", approval: "careful", agent: "reviewer", effective } as Session);
  state.setCurrentSession("s");
  const { agent, model, mode, approval } = statusOf(state, "running", []);
  assert.deepEqual([agent, model, mode, approval], ["reviewer", "c/small", "ask", "manual"]);
});

test("a session as a row", () => {
  const session = { sessionId: "s", title: "T", updated: "2026-01-01T00:00:00Z", turns: 2, model: "a/b", costUsd: 0.02 } as Session;
  assert.deepEqual(sessionRow(session, "s", Date.parse("2026-01-01T03:00:00Z")), {
    sessionId: "s",
    title: "T",
    figures: "3 h · 2 turns · a/b · $0.0200",
    current: true,
  });
});
