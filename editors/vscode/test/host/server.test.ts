/** Commands about the server, and other servers: none, an old one, one that keeps ending. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setup, suiteSetup, suiteTeardown, test } from "mocha";
import * as vscode from "vscode";
import { hands } from "./hands";
import { resetWindow, api, begin, ended, open, pathOf, run, state, until } from "./window";

const { TARK_TEST_FAKE: FAKE = "", TARK_TEST_WHEEL: WHEEL = "", TARK_TEST_BIN: BIN = "", PATH } = process.env;
const INSTALLS_MS = 280_000; // two installations, one of which fails
let real: string[];

suiteSetup(async () => {
  await resetWindow();
  real = settings().get<string[]>("server.command")!;
});
setup(async () => {
  await vscode.commands.executeCommand("notifications.clearAll");
});
suiteTeardown(async () => {
  process.env["PATH"] = PATH;
  await set("server.command", real);
});

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("tark");
}

/** A server that does what its argument says (fake_server.py). */
function fake(does: string): string[] {
  return [real[0]!, FAKE, does];
}

async function set(key: string, value: unknown): Promise<void> {
  await settings().update(key, value, vscode.ConfigurationTarget.Global);
}

/** The process id of the server, once it has changed. */
async function other(than: number | undefined): Promise<number> {
  const { client } = await api();
  return until("another server", () => (client.running && client.processId !== than ? client.processId : undefined));
}

test("restart: one at a time, even if requested several times", async () => {
  const { client } = await api();
  const former = client.processId;
  await Promise.all([run("restart"), run("restart"), run("restart")]);
  await hands.sees("the server was restarted");
  assert.notEqual(client.processId, former);
});

test("doctor, showUsage: a report in an editor", async () => {
  (await state()).setCurrentSession((await begin("what is it?")).sessionId);
  await ended();
  const shown = (): string => vscode.window.activeTextEditor?.document.getText() ?? "";
  await run("doctor");
  await until("a page", () => vscode.window.tabGroups.activeTabGroup.activeTab?.label === "Tark Doctor");
  await run("showUsage");
  assert.match(shown(), /All sessions[^]*scripted/);
});

test("showOutput: the log", async () => {
  await run("showOutput");
  await hands.shows(".output-view-container, .output-view, .panel .editor-instance");
});

test("a change of user settings restarts the server, unless it can be sent to it", async () => {
  const { client, server } = await api();
  const former = client.processId;
  await set("mode", "plan");
  const second = await other(former);
  await until("mode plan", () => server.state.settings?.mode === "plan");
  await settings().update("thinking", "low", vscode.ConfigurationTarget.Workspace);
  await until("it was sent", async () => {
    await server.executeCommand("tark.state");
    return client.sentSettings.includes("low");
  });
  assert.equal(client.processId, second);
  await set("mode", undefined);
  await other(second);
});

test("a killed server is restarted; after three ends within a minute, a button restarts it", async () => {
  const { client } = await api();
  let former = client.processId;
  process.kill(former!, "SIGKILL");
  await hands.sees("the server ended (killed); it was restarted");
  former = await other(former);
  process.kill(former, "SIGKILL");
  former = await other(former);
  process.kill(former, "SIGKILL");
  await hands.clicks("it is not restarted again", "Restart");
  await other(former);
});

test("a crash is one message, also if a command was running, and if the server does not start again", async () => {
  const { client } = await api();
  const marker = pathOf("server-dies");
  const program = "import os, sys; os.path.exists(sys.argv[1]) and sys.exit('no memory'); os.execv(sys.argv[2], sys.argv[2:])";
  const former = client.processId;
  await set("server.command", [real[0], "-c", program, marker, ...real]);
  const fragile = await other(former);
  await hands.clear();
  process.kill(fragile, "SIGSTOP");
  const commands = [run("showUsage"), run("exportSession")];
  writeFileSync(marker, "");
  process.kill(fragile, "SIGKILL");
  await Promise.all(commands);
  await hands.seesOnly("the server ended (killed); the server did not start: exit code 1: no memory");
  rmSync(marker);
  await run("restart");
  process.kill(await other(fragile), "SIGKILL");
  await hands.sees("the server ended (killed); it was restarted");
  await set("server.command", real);
  await other(client.processId);
});

for (const [does, says] of [
  ["0", "fake-server 9.9 is too old for this extension: update it"],
  ["none", "fake-server 9.9 is not tark-lsp: check the setting tark.server.command"],
  ["dies", "the server did not start: exit code 1: ModuleNotFoundError: No module named 'tark_lsp'"],
  ["garbage", "the server did not start: exit code 3"],
] as const) {
  test(`another kind of server (${does}) is reported`, async () => {
    const former = (await api()).client.processId;
    await set("server.command", fake(does));
    await hands.sees(says);
    assert.ok(former === undefined || (await api()).client.processId !== former, "the former is gone");
  });
}

test("a server that never answers is replaced when the setting changes", async () => {
  const { client } = await api();
  await set("server.command", [real[0], "-c", "import sys; sys.stdin.read()"]);
  await until("the former is gone", () => !client.running);
  await set("server.command", real);
  await until("another server", () => client.running);
});

test("the server imports nothing from the workspace", async () => {
  mkdirSync(pathOf("tark_lsp"), { recursive: true });
  for (const file of ["__init__.py", "__main__.py"]) {
    writeFileSync(pathOf(`tark_lsp/${file}`), "open('imported', 'w')");
  }
  await run("restart");
  assert.equal((await api()).client.running, true);
  assert.equal(existsSync(pathOf("imported")), false);
});

test("a command that an old server lacks says so", async () => {
  await set("server.command", fake("0"));
  await hands.sees("too old");
  await run("sessions");
  await hands.sees("the server does not know tark.session.list, so it may be out of date");
  await set("server.command", ["/no/such/program"]);
  await hands.sees("tark.server.command is /no/such/program, which is not a program that can be run");
});

test("no server and no Python: a button, and a hint", async () => {
  process.env["PATH"] = "";
  await set("server.command", undefined);
  await vscode.commands.executeCommand("notifications.clearAll");
  await run("sessions");
  await hands.sees('no tark-lsp was found on this machine: run "Tark: Install Server" to install one');
  await open("numbers.txt", "one\n");
  await run("explain");
  await hands.clicks("not started: no tark-lsp was found on this machine", "Install Server");
  await hands.sees("no Python 3.11 or newer was found: install Python, or set tark.server.command");
});

test("install: into a separate environment, from which the server runs", async () => {
  process.env["PATH"] = BIN;
  await set("server.package", `${WHEEL}.is.not.there.whl`);
  await run("install");
  await hands.sees("could not be installed");
  await set("server.package", WHEEL);
  await run("install");
  await hands.sees("the server is installed and runs");
  assert.equal((await api()).client.foundServer?.source, "the extension's own environment");
}).timeout(INSTALLS_MS);
