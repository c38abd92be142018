/** Where the server is looked for: the order, and what is passed over. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { discover, type Surroundings } from "../../src/server/discovery";

const PYTHON = "/venv/bin/tark-lsp";
const PATH = "/usr/bin/tark-lsp";
const UV = "/home/ada/.local/share/uv/tools/tark-lsp/bin/tark-lsp";
const PIPX = "/home/ada/.local/share/pipx/venvs/tark-lsp/bin/tark-lsp";
const OWN = "/storage/server/bin/tark-lsp";
const ALL = [OWN, PYTHON, PATH, UV, PIPX];

function around(programs: readonly string[], other: Partial<Surroundings> = {}): Surroundings {
  return {
    setting: undefined,
    installer: undefined,
    trusted: true,
    folders: ["/project"],
    agreed: [],
    passedOver: () => undefined,
    platform: "linux",
    environment: { PATH: "bin:/usr/bin" },
    home: "/home/ada",
    own: "/storage/server",
    python: () => Promise.resolve("/venv/bin/python"),
    isProgram: (file) => Promise.resolve(programs.includes(file)),
    real: (file) => Promise.resolve(file),
    ...other,
  };
}

test("the first place that has one", async () => {
  for (const [index, first] of ALL.entries()) {
    const found = await discover(around(ALL.slice(index)));
    assert.deepEqual(found?.command, [first]);
  }
  assert.equal(await discover(around([])), undefined);
});

test("the setting comes before all, with its arguments", async () => {
  const found = await discover(around([...ALL, "/opt/tark-lsp"], { setting: ["/opt/tark-lsp", "--verbose"] }));
  assert.deepEqual(found, { command: ["/opt/tark-lsp", "--verbose"], from: "the setting tark.server.command" });
});

test("the one that installed the extension comes before what else there is, while it is there", async () => {
  const installer = ["/opt/python", "-m", "tark_lsp"];
  const found = await discover(around([...ALL, "/opt/python"], { installer }));
  assert.deepEqual(found, { command: installer, from: "the tark-lsp that installed the extension" });
  assert.deepEqual((await discover(around(ALL, { installer })))?.command, [OWN]);
  assert.deepEqual((await discover(around(["opt/python", PATH], { installer: ["opt/python"] })))?.command, [PATH]);
});

test("what the person has named or made is run wherever it is", async () => {
  for (const place of [{ setting: ["/project/bin/tark-lsp"] }, { installer: ["/project/bin/tark-lsp"] }, { own: "/project" }]) {
    const found = await discover(around(["/project/bin/tark-lsp", PATH], { ...place, trusted: false }));
    assert.deepEqual(found?.command, ["/project/bin/tark-lsp"]);
  }
});

test("the home folder may be open, and is not of those whose programs are passed over", async () => {
  for (const folder of ["/home/ada", "/home", "/"]) {
    assert.deepEqual((await discover(around([UV], { folders: [folder], trusted: false })))?.command, [UV]);
  }
  assert.equal(await discover(around([UV], { folders: ["/home/ada", "/home/ada/.local"] })), undefined);
});

test("the setting may be a name in PATH, or begin with the home folder", async () => {
  assert.deepEqual((await discover(around(ALL, { setting: ["tark-lsp"] })))?.command, [PATH]);
  const home = around(["/home/ada/bin/own"], { setting: ["~/bin/own"] });
  assert.deepEqual((await discover(home))?.command, ["/home/ada/bin/own"]);
});

test("a setting that names no program is told, and nothing else is tried", async () => {
  await assert.rejects(discover(around(ALL, { setting: ["/gone/tark-lsp"] })), /\/gone\/tark-lsp, which is no program/);
  await assert.rejects(discover(around(["bin/tark-lsp"], { setting: ["bin/tark-lsp"] })), /no program/);
});

test("what is of the workspace is run where the person agreed to it, and trusts the workspace", async () => {
  const programs = ["/project/.venv/bin/tark-lsp", "/project/bin/tark-lsp", UV];
  const inside: Partial<Surroundings> = {
    environment: { PATH: "/project/bin" },
    python: () => Promise.resolve("/project/.venv/bin/python"),
  };
  const passed: string[] = [];
  const passedOver = (program: string): void => void passed.push(program);
  assert.deepEqual((await discover(around(programs, { ...inside, passedOver })))?.command, [UV]);
  assert.deepEqual(passed, ["/project/.venv/bin/tark-lsp", "/project/bin/tark-lsp"]);
  const agreed = { ...inside, agreed: ["/project/.venv/bin/tark-lsp"] };
  assert.deepEqual((await discover(around(programs, agreed)))?.command, ["/project/.venv/bin/tark-lsp"]);
  assert.deepEqual((await discover(around(programs, { ...agreed, trusted: false })))?.command, [UV]);
});

test("what is of the workspace is known by whatever name it has", async () => {
  const real = (file: string): Promise<string> => Promise.resolve(file.replace("/link/", "/project/"));
  const passed: string[] = [];
  const inside = { environment: { PATH: "/link/bin" }, real, passedOver: (program: string) => void passed.push(program) };
  assert.deepEqual((await discover(around(["/link/bin/tark-lsp", UV], inside)))?.command, [UV]);
  assert.deepEqual(passed, ["/link/bin/tark-lsp"]);
});

test("the Python extension is not asked in an untrusted workspace", async () => {
  const python = (): Promise<string> => Promise.reject(new Error("asked"));
  assert.deepEqual((await discover(around([PATH], { trusted: false, python })))?.command, [PATH]);
});

test("folders that their variables name", async () => {
  const environment = { PATH: "", UV_TOOL_DIR: "/tools", PIPX_HOME: "/pipx" };
  assert.equal((await discover(around(["/tools/tark-lsp/bin/tark-lsp"], { environment })))?.from, "uv tool");
  assert.equal((await discover(around(["/pipx/venvs/tark-lsp/bin/tark-lsp"], { environment })))?.from, "pipx");
});

test("on Windows", async () => {
  const found = await discover(
    around(["C:\\Tools\\tark-lsp.exe"], {
      platform: "win32",
      environment: { Path: "C:\\Windows;C:\\Tools" },
      home: "C:\\Users\\Ada",
      own: "C:\\Storage\\server",
      folders: ["C:\\work"],
      python: () => Promise.resolve("C:\\work\\.venv\\Scripts\\python.exe"),
    }),
  );
  assert.deepEqual(found, { command: ["C:\\Tools\\tark-lsp.exe"], from: "PATH" });
});
