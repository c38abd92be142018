import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk, Permission } from "../../src/model/protocol";
import { answers } from "../../src/asking/permissionAnswers";
import { grantWords, message, mustBeShown, versionOf, whole } from "../../src/asking/permissionText";

const name = (uri: string): string => uri.replace("file:///w/", "");
const open = (): boolean => true;
const closed = (): boolean => false;

function permission(more: Partial<Permission>): Permission {
  return {
    requestId: "p1",
    sessionId: "s",
    turnId: "t",
    title: "run_command",
    toolKind: "execute",
    risk: "risky",
    why: "it runs a command without a sandbox",
    digest: "d1",
    grants: [],
    ...more,
  };
}

function command(text: string, env: Record<string, string> = {}): Permission {
  return permission({ command: { argv: ["/bin/bash", "-c", text], text, cwd: "/w", env } });
}

function edit(hunks: Partial<Hunk>[]): Permission {
  const range = { start: { line: 4, character: 0 }, end: { line: 5, character: 0 } };
  const plain: Hunk = { hunkId: "h", turnId: "t", range, oldText: "a\n", newText: "b\n", applied: false, state: "pending" };
  return permission({ edits: [{ uri: "file:///w/a.py", version: 1, hunks: hunks.map((each) => ({ ...plain, ...each })) }] });
}

test("a message names what it covers, in one line without links", () => {
  assert.equal(
    message(command("make [x](command:evil)"), name),
    "Tark asks: run make [x] (command:evil) in /w? (risky, asked because it runs a command without a sandbox)",
  );
  assert.match(message(edit([{}, {}]), name), /^Tark asks: edit a\.py \(\+2 −2\)\?/);
  assert.match(message(edit([{ operation: { kind: "remove" } }]), name), /delete a\.py/);
});

test("a message says how much of it is decided, and no size of what has no lines", () => {
  assert.match(message(edit([{ state: "accepted" }, {}]), name), /, 1 of 2 changes decided already\)$/);
  const moved = edit([{ operation: { kind: "move", target: "file:///w/b.py" }, oldText: "", newText: "" }]);
  assert.match(message(moved, name), /^Tark asks: move a\.py to b\.py\? /);
});

test("a message shows the end of what is cut", () => {
  const said = message(command(`echo ${"x".repeat(3000)}; rm -rf ~`), name);
  assert.ok(said.length < 400 && said.includes("rm -rf ~"));
});

test("what does not fit, what has lines, and what no undo takes back must be shown whole first", () => {
  assert.ok(!mustBeShown(command("make"), open, name));
  assert.ok(mustBeShown(command("make\nrm x"), open, name));
  assert.ok(mustBeShown(command("x".repeat(300)), open, name));
  const cut = { ...command("make"), grants: [{ id: "g", covers: `make ${"x".repeat(300)} this session` }] };
  assert.ok(mustBeShown(cut, open, name), "its button cannot say what it grants");
  assert.ok(!mustBeShown(edit([{}]), open, name));
  assert.ok(mustBeShown(edit([{}]), closed, name));
  assert.ok(mustBeShown(edit([{ operation: { kind: "remove" } }]), open, name));
  assert.ok(!mustBeShown(edit([{ operation: { kind: "move", target: "file:///w/b.py" }, oldText: "", newText: "" }]), closed, name));
});

test("grants are named by what they cover", () => {
  assert.equal(grantWords(command("make"), "`make` in ., this turn"), "Allow this very command in ., this turn");
  assert.equal(grantWords(edit([{}]), "edits in this folder, this session"), "Allow edits in this folder, this session");
});

test("the whole command, its folder and its environment", () => {
  const shown = whole(command("make\nall\u202e", { HOME: "/me", TERM: "dumb" }), name, { HOME: "/me" });
  assert.equal(
    shown,
    [
      "run_command",
      "risky, asked because it runs a command without a sandbox",
      "",
      "$ make",
      "$ all\\u{202e}",
      "",
      "in    /w",
      "by    /bin/bash -c",
      "with  TERM=dumb",
      "and   HOME as they are here",
      "",
      "",
    ].join("\n"),
  );
});

test("nothing of a long line is out of sight", () => {
  const text = `echo ${"x".repeat(1000)}`;
  const shown = whole(command(text), name, {});
  assert.ok(shown.split("\n").every((each) => each.length <= 110));
  assert.ok(shown.replaceAll("\n    ↪ ", "").includes(`$ ${text}\n`));
});

test("the whole diff, without what is decided already", () => {
  const shown = whole(edit([{}, { hunkId: "i", state: "accepted" }, { hunkId: "j", state: "conflict", outsideSelection: true }]), name, {});
  assert.ok(shown.includes("file a.py\n@@ line 5 @@\n-a\n+b\n"));
  assert.ok(shown.includes("@@ line 5, outside the selection, in conflict: not made by allowing @@"));
  assert.ok(shown.includes("1 of 3 changes decided already, this is the rest"));
});

test("endings are shown where they differ", () => {
  assert.ok(whole(edit([{ oldText: "a\r\n", newText: "b\r\n" }]), name, {}).includes("-a\n+b\n"));
  assert.ok(whole(edit([{ oldText: "a\r\n", newText: "a\n" }]), name, {}).includes("-a\\u{d}\n+a\n"));
});

test("a request whose hunks were edited or decided is another one", () => {
  const versions = [edit([{}]), { ...edit([{}]), digest: "d2" }, edit([{ state: "rejected" }])].map(versionOf);
  assert.equal(new Set(versions).size, 3);
});

test("nothing can be allowed before it was seen, and grants say what they cover", () => {
  const request = { ...command("make"), grants: [{ id: "g", covers: "`make` in ., this session" }] };
  const titles = (allowed: boolean): string[] => answers(request, allowed).map(({ title }) => title);
  assert.deepEqual(titles(false), ["Reject", "Reject, Because ...", "Cancel the Turn"]);
  assert.deepEqual(titles(true).slice(0, 3), ["Allow This", "Reject", "Allow this very command in ., this session"]);
  assert.ok(answers(edit([{}]), true).some(({ kind }) => kind === "hunks"));
});
