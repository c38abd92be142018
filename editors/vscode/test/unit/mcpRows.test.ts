/** The list of MCP servers and hooks: what each state looks like, what has a switch, and what is told of news. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { newsText, type Row, rowsOf, waitingCount } from "../../src/mcp/rows";
import type { Hook, McpServer, McpTool } from "../../src/model/mcp";

const TOOL: McpTool = { name: "add", fullName: "mcp__toy__add", description: "Adds two numbers.", state: "on", reason: "" };
const SERVER: McpServer = { name: "toy", origin: "user", source: "", state: "running", reason: "", runs: "/bin/toy x", unconfined: "", problems: [], tools: [TOOL] };
const HOOK: Hook = { name: "check", on: "turnEnd", origin: "project", source: "/w/.tark/hooks.toml", state: "waiting", reason: "", runs: "/bin/true" };

function rowOf(server: Partial<McpServer>): Row {
  return rowsOf({ trusted: true, servers: [{ ...SERVER, ...server }], problems: [] }, { hooks: [], problems: [] })[0]!;
}

const STATES: readonly (readonly [given: Partial<McpServer>, description: string, isOn: boolean | undefined])[] = [
  [{}, "running · 1 tool", true],
  [{ tools: [TOOL, { ...TOOL, name: "sub", state: "off" }] }, "running · 1 of 2 tools", true],
  [{ state: "off", reason: "you switched it off" }, "off · 1 tool", false],
  [{ state: "off", reason: "its settings say so (enabled)" }, "off · 1 tool", undefined],
  [{ state: "waiting", tools: [] }, "waits for your approval", undefined],
  [{ state: "changed" }, "changed, off until you approve it · 1 tool", true],
  [{ state: "failed", reason: "it has ended (exit code 1): no\ndatabase" }, "failed · it has ended (exit code 1): no⏎database · 1 tool", undefined],
  [{ state: "of a later version" }, "of a later version · 1 tool", true],
];

test("a server says its state, its error and its tools", () => {
  for (const [given, description, isOn] of STATES) {
    const row = rowOf(given);
    assert.deepEqual([row.description, row.isOn], [description, isOn]);
  }
});

test("a tooltip has what a line has no room for", () => {
  assert.equal(rowOf({ unconfined: "no bubblewrap" }).tooltip, "/bin/toy x\nit runs without a sandbox: no bubblewrap\nin your config.toml");
  assert.match(rowOf({ origin: "project", source: "/w/.mcp.json" }).tooltip, /offered by \/w\/\.mcp\.json/);
});

test("only a tool that was approved, and that the settings leave in, has a switch", () => {
  const tools = ["on", "off", "changed", "new", "gone"].map((state) => ({ ...TOOL, name: state, state }));
  const rows = rowOf({ tools: [...tools, { ...TOOL, name: "left", state: "off", reason: "its settings leave it out (tools)" }] }).rows;
  assert.deepEqual(rows.map(({ isOn }) => isOn), [true, false, undefined, undefined, undefined, undefined]);
  assert.equal(rows[2]?.description, "changed, off until you approve it · Adds two numbers.");
});

test("hooks and problems follow the servers", () => {
  const rows = rowsOf({ trusted: true, servers: [SERVER], problems: ["one\nproblem"] }, { hooks: [HOOK, { ...HOOK, name: "mine", origin: "user", state: "approved" }], problems: [] });
  assert.deepEqual(rows.map(({ label, description }) => [label, description]), [
    ["toy", "running · 1 tool"],
    ["check", "hook, turnEnd · waits for your approval"],
    ["mine", "hook, turnEnd · yours"],
    ["one⏎problem", ""],
  ]);
  assert.equal(waitingCount(rows), 1);
});

test("the menus find the state in words", () => {
  assert.equal(rowOf({ state: "waiting", origin: "project" }).context, " server waiting project ");
});

test("news are one sentence", () => {
  const server = { kind: "server", name: "toy", changed: false } as const;
  const hook = { kind: "hook", name: "check", changed: true } as const;
  assert.equal(newsText([server]), "the MCP server toy waits for your approval");
  assert.equal(newsText([hook]), "the hook check changed since you approved it, so it is off");
  assert.equal(newsText([server, hook, server]), "2 MCP servers and 1 hook wait for your approval");
});
