import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk, Permission } from "../../src/model/protocol";
import { permissionAnswers } from "../../src/asking/permissionAnswers";
import { grantWords, permissionMessage, mustBeShown, requestVersion, fullText } from "../../src/asking/permissionText";

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
  return permission({ edits: [{ uri: "file:///w/a.py", version: 1, hunks: hunks.map((more) => ({ ...plain, ...more })) }] });
}

test("a message names what it covers, in one line", () => {
  assert.equal(
    permissionMessage(command("make [x](command:evil)"), name),
    "Tark asks: run make [x](command:evil) in /w? (risky, asked because it runs a command without a sandbox)",
  );
  const asking = command("make");
  assert.ok(asking.command);
  const sandboxed = { ...asking, command: { ...asking.command, sandboxed: true, network: true, writable: ["/out"] } };
  assert.match(permissionMessage(sandboxed, name), /run make in \/w, with the network and write access to \/out\?/);
  assert.match(permissionMessage(edit([{}, {}]), name), /^Tark asks: edit a\.py \(\+2 −2\)\?/);
  assert.match(permissionMessage(edit([{ operation: { kind: "remove" } }]), name), /delete a\.py/);
});

test("a message counts decided changes, and gives no size without lines", () => {
  assert.match(permissionMessage(edit([{ state: "accepted" }, {}]), name), /, 1 of 2 changes already decided\)$/);
  const moved = edit([{ operation: { kind: "move", target: "file:///w/b.py" }, oldText: "", newText: "" }]);
  assert.match(permissionMessage(moved, name), /^Tark asks: move a\.py to b\.py\? /);
});

test("a shortened message keeps its end", () => {
  const said = permissionMessage(command(`echo ${"x".repeat(3000)}; rm -rf ~`), name);
  assert.ok(said.length < 400 && said.includes("rm -rf ~"));
});

test("requests that do not fit, have several lines or cannot be undone must be shown whole first", () => {
  assert.ok(!mustBeShown(command("make"), open, name));
  assert.ok(mustBeShown(command("make\nrm x"), open, name));
  assert.ok(mustBeShown(command("x".repeat(300)), open, name));
  const cut = { ...command("make"), grants: [{ id: "g", covers: `make ${"x".repeat(300)} this session` }] };
  assert.ok(mustBeShown(cut, open, name), "its button cannot show what it grants");
  assert.ok(!mustBeShown(edit([{}]), open, name));
  assert.ok(mustBeShown(edit([{}]), closed, name));
  assert.ok(mustBeShown(edit([{ operation: { kind: "remove" } }]), open, name));
  assert.ok(!mustBeShown(edit([{ operation: { kind: "move", target: "file:///w/b.py" }, oldText: "", newText: "" }]), closed, name));
});

test("grants are named by what they cover", () => {
  assert.equal(grantWords(command("make"), "`make` in this folder, this turn"), "Allow exactly this command in this folder, this turn");
  assert.equal(grantWords(edit([{}]), "edits in this folder, this session"), "Allow edits in this folder, this session");
});

test("the whole command, its folder and its environment", () => {
  const shown = fullText(command("make\nall\u202e", { HOME: "/me", TERM: "dumb" }), name, { HOME: "/me" });
  assert.equal(
    shown,
    [
      "Run",
      "risky, asked because it runs a command without a sandbox",
      "",
      "$ make",
      "$ all\\u{202e}",
      "",
      "in    /w",
      "by    /bin/bash -c",
      "with  TERM=dumb",
      "and   HOME with their current values",
      "",
      "",
    ].join("\n"),
  );
});

test("a long line is wrapped", () => {
  const text = `echo ${"x".repeat(1000)}`;
  const shown = fullText(command(text), name, {});
  assert.ok(shown.split("\n").every((line) => line.length <= 110));
  assert.ok(shown.replaceAll("\n    ↪ ", "").includes(`$ ${text}\n`));
});

test("the whole diff, without decided hunks", () => {
  const shown = fullText(edit([{}, { hunkId: "i", state: "accepted" }, { hunkId: "j", state: "conflict", outsideSelection: true }]), name, {});
  assert.ok(shown.includes("file a.py\n@@ line 5 @@\n-a\n+b\n"));
  assert.ok(shown.includes("@@ line 5, outside the selection, in conflict: allowing does not apply it @@"));
  assert.ok(shown.includes("1 of 3 changes already decided; these are the others"));
});

test("line endings are shown if they differ", () => {
  assert.ok(fullText(edit([{ oldText: "a\r\n", newText: "b\r\n" }]), name, {}).includes("-a\n+b\n"));
  assert.ok(fullText(edit([{ oldText: "a\r\n", newText: "a\n" }]), name, {}).includes("-a\\u{d}\n+a\n"));
});

test("a request whose hunks were edited or decided has another version", () => {
  const versions = [edit([{}]), { ...edit([{}]), digest: "d2" }, edit([{ state: "rejected" }])].map(requestVersion);
  assert.equal(new Set(versions).size, 3);
});

test("a request can be allowed only after it was seen, and grants name what they cover", () => {
  const request = { ...command("make"), grants: [{ id: "g", covers: "`make` in this folder, this session" }] };
  const titles = (allowed: boolean): string[] => permissionAnswers(request, allowed).map(({ title }) => title);
  assert.deepEqual(titles(false), ["Reject", "Reject with Reason…", "Cancel Turn"]);
  assert.deepEqual(titles(true).slice(0, 3), ["Allow", "Reject", "Allow exactly this command in this folder, this session"]);
  const many = { ...request, grants: ["a", "b", "c"].map((id) => ({ id, covers: `edits below ${id}` })) };
  const longer: string[] = permissionAnswers(many, true).map(({ title }) => title);
  assert.deepEqual(longer.slice(0, 4), ["Allow", "Reject", "Allow for Longer…", "Reject with Reason…"]);
  assert.ok(!permissionAnswers(many, false).some(({ kind }) => kind === "grants"), "nothing is allowed before it was seen");
  assert.ok(permissionAnswers(edit([{}]), true).some(({ kind }) => kind === "hunks"));
});
