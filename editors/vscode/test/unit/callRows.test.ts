/** The rows of tool calls: what they say, and how consecutive reads share a row. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "./dom";
import { open } from "./opened";
import { callRow, outcomeWords, readsWords } from "../../src/chat/page/callRow";
import type { CallView, Diff, TranscriptChange } from "../../src/chat/messages";
import { titleInWords } from "../../src/text/toolTitle";

const FOLDERS = ["file:///ws"];

function call(name: string, more: Partial<CallView> = {}): CallView {
  return { kind: "toolCall", toolCallId: name, status: "completed", name, title: `${name} it`, ...more };
}

function diff(uri: string, line: number, oldText: string, newText: string): Diff & { type: "diff" } {
  return { type: "diff", uri, hunks: [{ range: { start: { line } }, oldText, newText }] };
}

test("an edit is its place and its lines", () => {
  const edit = call("edit_file", { content: [diff("file:///ws/pylib/json/scanner.py", 28, "a\nb\nc\nd\n", "a\nb\nc")] });
  assert.deepEqual(callRow(edit, FOLDERS, 0), { verb: "", subject: "scanner.py:29", lines: { added: 3, removed: 4 }, folder: "pylib/json", figures: "" });
  const patch = call("apply_patch", { content: [diff("file:///ws/a.py", 0, "", "x\n"), diff("file:///ws/b.py", 4, "y\n", ""), diff("file:///ws/b.py", 9, "y\n", "")] });
  assert.deepEqual(callRow(patch, FOLDERS, 0), { verb: "", subject: "a.py:1 and 1 other file", lines: { added: 1, removed: 2 }, figures: "" });
});

test("other calls are a verb and what it is about", () => {
  const rows: [CallView, string][] = [
    [call("run_command", { title: "run_command pytest -q", outcome: { exitCode: 1, seconds: 2.3 } }), "Run|pytest -q|exit 1 · 2.3 s"],
    [call("search_text", { title: "search_text read_file in src (*.py)", outcome: { matches: 12, files: 3 } }), "Search|read_file in src (*.py)|12 matches in 3 files"],
    [call("request_code_context", { title: "request_code_context how is it parsed", outcome: { matches: 12, files: 10 } }), "Find code for|how is it parsed|12 matches in 10 files"],
    [call("read_file", { title: "read_file a.py:1-20", ms: 1500 }), "Read|a.py:1-20|1.5 s"],
    [call("delete_file", { title: "delete_file a.py", content: [diff("file:///ws/a.py", 0, "x\n", "")] }), "Delete|a.py|"],
    [call("edit_file", { title: "edit_file" }), "Edit||"],
    [call("update_plan", { title: "update_plan 1 of 3" }), "Plan|1 of 3|"],
    [call("read_file", { title: "read_filesystem x" }), "|read_filesystem x|"],
    [{ kind: "toolCall", toolCallId: "c", status: "pending" }, "|tool|"],
    [call("run_command", { title: "run_command a\u202eb\nc" }), "Run|a\\u{202e}b⏎c|"],
  ];
  for (const [given, expected] of rows) {
    const { verb, subject, figures } = callRow(given, FOLDERS, 0);
    assert.equal([verb, subject, figures].join("|"), expected);
  }
});

/** The same as FIGURES in tests/cli/test_screen.py, except for long times. */
test("figures are told as in the terminal", () => {
  assert.equal(outcomeWords({ exitCode: 0, seconds: 0 }), "exit 0 · 0.0 s");
  assert.equal(outcomeWords({ exitCode: -9, seconds: 61.25 }), "signal 9 · 1 min 1 s");
  assert.equal(outcomeWords({ exitCode: 1, seconds: 2.3, counts: "2 failed, 1 passed" }), "2 failed, 1 passed · exit 1 · 2.3 s");
  assert.equal(outcomeWords({ matches: 0, files: 0 }), "no matches");
  assert.equal(outcomeWords({ matches: 1, files: 1 }), "1 match in 1 file");
  assert.equal(outcomeWords({ matches: 100, files: 3, more: true }), "100+ matches in 3+ files");
  assert.equal(outcomeWords({ files: 0 }), "no files");
  assert.equal(outcomeWords({ files: 7 }), "7 files");
});

test("what a group of reads looked at", () => {
  const place = (uri: string): Partial<CallView> => ({ locations: [{ uri }] });
  assert.equal(readsWords([call("read_file", place("a")), call("read_file", place("a")), call("search_text")]), "Read 1 file, searched 1 time");
  assert.equal(readsWords([call("list_directory"), call("list_directory")]), "Listed 2 folders");
});

function changes(...calls: readonly CallView[]): TranscriptChange[] {
  return calls.map((block, index) => ({ kind: "block", turnId: "t", index, block: { ...block, toolCallId: `c${index}` } }));
}

async function shown(...calls: readonly CallView[]): Promise<ReturnType<typeof open>> {
  const page = open();
  const head = { turnId: "t", state: "running", prompt: "p" } as const;
  await page.give({ kind: "transcript", transcript: { sessionId: "s", earlier: false, turns: [{ head, blocks: [] }] }, sending: [] });
  await page.give({ kind: "changes", changes: changes(...calls) });
  return page;
}

test("consecutive reads share one row, which shows what runs now and what failed", async () => {
  const reads = [call("read_file"), call("search_text", { status: "failed" }), call("read_file", { status: "in_progress", title: "read_file b.py" })];
  const page = await shown(call("run_command"), ...reads, call("run_command"), call("read_file"));
  const groups = page.all("details.reads");
  assert.equal(groups.length, 1);
  assert.equal(groups[0]!.querySelector("summary .title")!.textContent, "Read 2 files, searched 1 time · 1 failed · Read b.py");
  assert.equal(groups[0]!.getAttribute("data-status"), "in_progress");
  assert.deepEqual(page.all(".blocks > details").map((element) => element.className), ["call", "reads", "call", "call"]);
  assert.equal(groups[0]!.querySelectorAll(".call").length, 3);
  await page.give({ kind: "changes", changes: [{ kind: "block", turnId: "t", index: 3, block: { ...reads[2]!, toolCallId: "c3", status: "completed" } }] });
  assert.equal(groups[0]!.querySelector("summary .title")!.textContent, "Read 2 files, searched 1 time · 1 failed");
});

test("a call that waits is seen in the row of its group", async () => {
  const page = await shown(call("read_file"), call("read_file", { status: "waiting", title: "read_file /etc/hosts" }));
  assert.equal(page.one("details.reads > summary").textContent, "?Read 2 files · Read /etc/hosts waiting for you");
});

test("a command that failed has the sign of a failure", async () => {
  const page = await shown(call("run_command", { outcome: { exitCode: 2, seconds: 1 } }), call("run_command", { outcome: { exitCode: 0 } }));
  assert.deepEqual(page.all(".call .sign").map((element) => element.textContent), ["✗", "✓"]);
});

test("an edit that changed nothing is not shown as done", async () => {
  const none = { type: "diff", uri: "file:///ws/a.py", hunks: [] } as unknown as Diff;
  const same = call("edit_file", { title: "edit_file a.py", content: [none, { type: "text", text: "nothing changed: already there" }] });
  assert.deepEqual(callRow(same, FOLDERS, 0), { verb: "", subject: "a.py", lines: { added: 0, removed: 0 }, figures: "nothing changed" });
  const page = await shown(same, call("edit_file", { content: [diff("file:///ws/a.py", 0, "", "x\n")] }), call("edit_file", { status: "pending", content: [none] }));
  assert.deepEqual(page.all(".call .sign").map((element) => element.textContent), ["=", "✓", "·"]);
  assert.equal(page.one(".call summary").textContent, "=a.py /ws done nothing changed");
  assert.equal(page.one(".call").getAttribute("data-unchanged"), "");
});

test("the row of a failed edit names its file", async () => {
  const page = await shown(call("edit_file", { status: "failed", title: "edit_file shop/a.py", content: [{ type: "text", text: "the text was not found" }] }));
  assert.equal(page.one(".call summary").textContent, "✗Edit shop/a.py failed the text was not found");
});

test.after(() => window.happyDOM.close());

test("the title of a call in words, wherever there is no row", () => {
  const titles = ["run_command make  all", "run_tests pytest", "edit_file a.py", "fetch", "Delegate: read_file it", ""];
  assert.deepEqual(titles.map(titleInWords), ["Run make  all", "Test pytest", "Edit a.py", "Fetch", "Delegate: read_file it", ""]);
});
