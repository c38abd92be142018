/** Commands that start and stop turns. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setup, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, begin, ended, run, said, select, state, until } from "./window";

let editor: vscode.TextEditor;

setup(async () => {
  editor = await resetWindow();
});

/** The extension host has the text of the box that the page shows. */
function typed(text: string): Promise<boolean> {
  return until(text, () => vscode.workspace.textDocuments.some((document) => document.uri.scheme === "comment" && document.getText() === text));
}

test("edit: the selection, with a prompt", async () => {
  select(editor, 2, 3);
  const done = run("edit");
  await hands.inline("make it shorter");
  await done;
  await until("a hunk", async () => (await state()).hunks.size > 0);
  await run("acceptAll");
  assert.equal((await ended()).turnKind, "edit");
  assert.equal(editor.document.lineAt(2).text, "short");
});

test("edit: the box below the lines keeps its text, recalls prompts, and widens to whole lines", async () => {
  editor.selection = new vscode.Selection(2, 2, 2, 4);
  const left = run("edit");
  await hands.inline("make it shor", "Escape");
  await left;
  assert.equal((await state()).sessionId, undefined);
  const again = run("edit");
  await hands.inline("ter", "Enter", "make it shor"); // after the kept text
  await again;
  await until("a hunk", async () => (await state()).hunks.size > 0);
  const [hunks] = [...(await state()).hunks.values()];
  assert.deepEqual(hunks!.hunks.map(({ oldText }) => oldText), ["three\n"]);
  await run("rejectAll");
  assert.deepEqual((await ended()).range, { start: { line: 2, character: 0 }, end: { line: 2, character: 5 } });

  const recalled = run("edit");
  await hands.inline("", "ArrowUp");
  await hands.inline("", "", "make it shorter");
  await run("inlineNext");
  await run("inlinePrevious");
  await hands.inline("", "Enter", "make it shorter");
  await recalled;
  await until("a hunk", async () => (await state()).hunks.size > 0);
  await run("rejectAll");
  assert.equal((await ended()).prompt, "make it shorter");
  const closed = run("edit");
  await hands.inline("x", "");
  await typed("x");
  await run("closeInline");
  await closed;
  const sent = run("edit");
  await hands.inline(" y", "", "x");
  await typed("x y");
  await run("sendInline");
  await sent;
  await until("its turn", async () => [...(await state()).transcripts.values()].some(({ turns }) => turns.some(({ prompt }) => prompt === "x y")));
});

test("edit: without a selection, a list for the definition at the cursor", async () => {
  select(editor, 3, 3);
  const done = run("edit");
  await hands.choose("Explain");
  await done;
  assert.equal((await ended()).turnKind, "explain");
});

test("agent: with all tools", async () => {
  const done = run("agent");
  await hands.answer("upper two and nine");
  await done;
  await until("two hunks", async () => [...(await state()).hunks.values()][0]?.hunks.length === 2);
  await run("acceptAll");
  assert.equal((await ended()).turnKind, "agent");
  assert.match(editor.document.getText(), /TWO[^]*NINE/);
});

test("ask: only answers", async () => {
  const done = run("ask");
  await hands.answer("what is it?");
  await done;
  const turn = await ended();
  assert.deepEqual([turn.turnKind, turn.prompt, said(turn)], ["ask", "what is it?", "Hello from the script."]);
});

for (const kind of ["explain", "fix", "test", "document"]) {
  test(`${kind}: needs no prompt`, async () => {
    select(editor, 2, 4);
    await run(kind);
    assert.equal((await ended()).turnKind, kind);
  });
}

test("prompt: a named prompt on the selection", async () => {
  select(editor, 2, 4);
  const done = run("prompt");
  await hands.choose("/haiku");
  await done;
  assert.equal((await ended()).turnKind, "haiku");
});

test("review my changes: what it finds is a problem, which can be dismissed", async () => {
  const { uri } = editor.document;
  const cwd = dirname(uri.fsPath);
  const git = (...args: string[]): unknown => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], { cwd });
  const found = (): vscode.Diagnostic[] => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === "tark");
  git("init", "-q");
  try {
    git("add", "numbers.txt");
    git("commit", "-q", "-m", "first");
    await editor.edit((edit) => edit.replace(editor.document.lineAt(2).range, "3"));
    await editor.document.save();
    await run("reviewChanges");
    const turn = await ended();
    assert.deepEqual([turn.turnKind, turn.prompt], ["review", "/review"]);
    await until("the problem", () => found().length > 0);
    assert.deepEqual(found().map(({ message, range, severity }) => [message, range.start.line, severity]), [["It is a digit now.", 2, vscode.DiagnosticSeverity.Warning]]);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", uri, found()[0]!.range);
    const dismiss = actions.find(({ title }) => title === "Dismiss: It is a digit now.")!;
    await vscode.commands.executeCommand(dismiss.command!.command, ...(dismiss.command!.arguments as unknown[]));
    await until("no problem", () => found().length === 0);
  } finally {
    rmSync(join(cwd, ".git"), { recursive: true, force: true });
  }
});

test("problems have quick fixes, which replace the server's own; the turn is about the problem", async () => {
  const { uri } = editor.document;
  const reported = vscode.languages.createDiagnosticCollection("test");
  const problem = new vscode.Diagnostic(new vscode.Range(2, 0, 2, 5), "three is too much");
  problem.source = "counter";
  reported.set(uri, [problem]);
  try {
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", uri, problem.range);
    const titles = actions.map(({ title }) => title).filter((title) => /^(Fix|Explain)/.test(title));
    assert.deepEqual(titles, ["Fix with Tark", "Explain with Tark"]);
    const { command } = actions.find(({ title }) => title === "Explain with Tark")!;
    await vscode.commands.executeCommand(command!.command, ...(command!.arguments as unknown[]));
    const turn = await ended();
    assert.deepEqual([turn.turnKind, turn.prompt], ["explain", "Explain this problem, and how it can be fixed."]);
  } finally {
    reported.dispose();
  }
});

test("a code action continues the session, and a notification announces an answer that is not visible", async () => {
  await vscode.commands.executeCommand("workbench.action.closeSidebar");
  const known = await state();
  const { sessionId } = await begin("what is it?");
  known.setCurrentSession(sessionId);
  await ended();
  const place = new vscode.Range(2, 0, 3, 0);
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", editor.document.uri, place);
  const explain = actions.find(({ title }) => title.startsWith("Explain"))!;
  await vscode.commands.executeCommand(explain.command!.command, ...(explain.command!.arguments as unknown[]));
  await until("its turn", () => known.transcripts.get(sessionId)?.turns.at(-1)?.turnKind === "explain");
  await hands.sees("answered without changing files");
});

test("an input box opens with the text that was typed last", async () => {
  const left = run("ask");
  await hands.shows(".quick-input-widget input");
  await hands.type("what is it");
  await hands.press("Escape");
  await left;
  assert.equal((await state()).sessionId, undefined);
  const done = run("ask");
  await hands.shows(".quick-input-widget input");
  await hands.press("End");
  await hands.press("?");
  await hands.press("Enter");
  await done;
  assert.equal((await ended()).prompt, "what is it?");
});

test("stop: the turns of this session", async () => {
  const { sessionId } = await begin("talk for ever");
  (await state()).setCurrentSession(sessionId);
  await run("stop");
  assert.equal((await ended()).stopReason, "cancelled");
  await run("stop");
  await hands.sees("no turn is running");
});

test("stopAll: also those of other sessions", async () => {
  const { sessionId, turnId } = await begin("talk for ever");
  await until("it runs", async () => (await state()).transcripts.get(sessionId)?.byId.get(turnId)?.state === "running");
  await run("stop");
  await hands.sees("no turn is running in this session");
  await run("stopAll");
  (await state()).setCurrentSession(sessionId);
  assert.equal((await ended()).stopReason, "cancelled");
});
