/** How the server is found: the order, and which programs are skipped. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { discoverServer, type DiscoveryEnvironment } from "../../src/server/discovery";

const PYTHON = "/venv/bin/tark-lsp";
const PATH = "/usr/bin/tark-lsp";
const UV = "/home/ada/.local/share/uv/tools/tark-lsp/bin/tark-lsp";
const PIPX = "/home/ada/.local/share/pipx/venvs/tark-lsp/bin/tark-lsp";
const OWN = "/storage/server/bin/tark-lsp";
const ALL = [OWN, PYTHON, PATH, UV, PIPX];

function around(programs: readonly string[], other: Partial<DiscoveryEnvironment> = {}): DiscoveryEnvironment {
  return {
    setting: undefined,
    installer: undefined,
    isTrusted: true,
    folders: ["/project"],
    approved: [],
    onSkipped: () => undefined,
    platform: "linux",
    environment: { PATH: "bin:/usr/bin" },
    home: "/home/ada",
    ownEnvironment: "/storage/server",
    python: () => Promise.resolve("/venv/bin/python"),
    isProgram: (file) => Promise.resolve(programs.includes(file)),
    realPath: (file) => Promise.resolve(file),
    ...other,
  };
}

test("the first location that has a server wins", async () => {
  for (const [index, first] of ALL.entries()) {
    const found = await discoverServer(around(ALL.slice(index)));
    assert.deepEqual(found?.command, [first]);
  }
  assert.equal(await discoverServer(around([])), undefined);
});

test("the setting comes first, with its arguments", async () => {
  const found = await discoverServer(around([...ALL, "/opt/tark-lsp"], { setting: ["/opt/tark-lsp", "--verbose"] }));
  assert.deepEqual(found, { command: ["/opt/tark-lsp", "--verbose"], source: "the setting tark.server.command" });
});

test("the server that installed the extension comes before others, while it exists", async () => {
  const installer = ["/opt/python", "-m", "tark_lsp"];
  const found = await discoverServer(around([...ALL, "/opt/python"], { installer }));
  assert.deepEqual(found, { command: installer, source: "the tark-lsp that installed the extension" });
  assert.deepEqual((await discoverServer(around(ALL, { installer })))?.command, [OWN]);
  assert.deepEqual((await discoverServer(around(["opt/python", PATH], { installer: ["opt/python"] })))?.command, [PATH]);
});

test("a program that the user chose or installed runs wherever it is", async () => {
  for (const place of [{ setting: ["/project/bin/tark-lsp"] }, { installer: ["/project/bin/tark-lsp"] }, { ownEnvironment: "/project" }]) {
    const found = await discoverServer(around(["/project/bin/tark-lsp", PATH], { ...place, isTrusted: false }));
    assert.deepEqual(found?.command, ["/project/bin/tark-lsp"]);
  }
});

test("programs in an open home folder are not skipped", async () => {
  for (const folder of ["/home/ada", "/home", "/"]) {
    assert.deepEqual((await discoverServer(around([UV], { folders: [folder], isTrusted: false })))?.command, [UV]);
  }
  assert.equal(await discoverServer(around([UV], { folders: ["/home/ada", "/home/ada/.local"] })), undefined);
});

test("the setting can be a name in PATH, or start with the home folder", async () => {
  assert.deepEqual((await discoverServer(around(ALL, { setting: ["tark-lsp"] })))?.command, [PATH]);
  const home = around(["/home/ada/bin/own"], { setting: ["~/bin/own"] });
  assert.deepEqual((await discoverServer(home))?.command, ["/home/ada/bin/own"]);
});

test("a setting that is not a program is reported, and nothing else is tried", async () => {
  await assert.rejects(discoverServer(around(ALL, { setting: ["/gone/tark-lsp"] })), /\/gone\/tark-lsp, which is not a program/);
  await assert.rejects(discoverServer(around(["bin/tark-lsp"], { setting: ["bin/tark-lsp"] })), /not a program/);
});

test("a program of the workspace runs only if the user approved it and trusts the workspace", async () => {
  const programs = ["/project/.venv/bin/tark-lsp", "/project/bin/tark-lsp", UV];
  const inside: Partial<DiscoveryEnvironment> = {
    environment: { PATH: "/project/bin" },
    python: () => Promise.resolve("/project/.venv/bin/python"),
  };
  const passed: string[] = [];
  const passedOver = (program: string): void => void passed.push(program);
  assert.deepEqual((await discoverServer(around(programs, { ...inside, onSkipped: passedOver })))?.command, [UV]);
  assert.deepEqual(passed, ["/project/.venv/bin/tark-lsp", "/project/bin/tark-lsp"]);
  const approved = { ...inside, approved: ["/project/.venv/bin/tark-lsp"] };
  assert.deepEqual((await discoverServer(around(programs, approved)))?.command, ["/project/.venv/bin/tark-lsp"]);
  assert.deepEqual((await discoverServer(around(programs, { ...approved, isTrusted: false })))?.command, [UV]);
});

test("a program of the workspace is recognized through links", async () => {
  const real = (file: string): Promise<string> => Promise.resolve(file.replace("/link/", "/project/"));
  const passed: string[] = [];
  const inside = { environment: { PATH: "/link/bin" }, realPath: real, onSkipped: (program: string) => void passed.push(program) };
  assert.deepEqual((await discoverServer(around(["/link/bin/tark-lsp", UV], inside)))?.command, [UV]);
  assert.deepEqual(passed, ["/link/bin/tark-lsp"]);
});

test("the Python extension is not asked in an untrusted workspace", async () => {
  const python = (): Promise<string> => Promise.reject(new Error("asked"));
  assert.deepEqual((await discoverServer(around([PATH], { isTrusted: false, python })))?.command, [PATH]);
});

test("folders from environment variables", async () => {
  const environment = { PATH: "", UV_TOOL_DIR: "/tools", PIPX_HOME: "/pipx" };
  assert.equal((await discoverServer(around(["/tools/tark-lsp/bin/tark-lsp"], { environment })))?.source, "uv tool");
  assert.equal((await discoverServer(around(["/pipx/venvs/tark-lsp/bin/tark-lsp"], { environment })))?.source, "pipx");
});

test("on Windows", async () => {
  const found = await discoverServer(
    around(["C:\\Tools\\tark-lsp.exe"], {
      platform: "win32",
      environment: { Path: "C:\\Windows;C:\\Tools" },
      home: "C:\\Users\\Ada",
      ownEnvironment: "C:\\Storage\\server",
      folders: ["C:\\work"],
      python: () => Promise.resolve("C:\\work\\.venv\\Scripts\\python.exe"),
    }),
  );
  assert.deepEqual(found, { command: ["C:\\Tools\\tark-lsp.exe"], source: "PATH" });
});
