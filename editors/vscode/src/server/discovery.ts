/**
 * Where the server is. The first of these that has one:
 *
 * 1. the setting `tark.server.command`; where that is no program, nothing else is tried,
 * 2. the `tark-lsp` that installed the extension (`tark-lsp install vscode`), as long as it is there,
 * 3. the extension's own environment, where the person pressed "Tark: Install Server", which ends 2,
 * 4. the Python environment that is selected in the workspace (not asked for in an untrusted one),
 * 5. `tark-lsp` in PATH, 6. in the folders of `uv tool` and `pipx`, which need not be in PATH.
 *
 * The server gets the person's keys. The first three are their own word. Of the others, what lies in a folder of the
 * workspace is passed over unless they have agreed to that very program, in an untrusted workspace even then; and so is
 * what PATH names by a relative path. The home folder is no such folder, though it be open: what is in it is theirs.
 */

import * as path from "node:path";

export const PROGRAM = "tark-lsp";
export const SETTING = "the setting tark.server.command";
export const OWN = "the extension's own environment";

/** What is looked at, so that the order can be tested without it. */
export interface Surroundings {
  readonly setting: readonly string[] | undefined;
  /** The command of the one that installed the extension. */
  readonly installer: readonly string[] | undefined;
  readonly trusted: boolean;
  /** Folders of the workspace. */
  readonly folders: readonly string[];
  /** Programs in folders of a workspace that the person wants to be run. */
  readonly agreed: readonly string[];
  /** One that is passed over until they want that. */
  readonly passedOver: (program: string) => void;
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The folder of the extension's own environment. */
  readonly own: string;
  /** The selected Python interpreter. */
  readonly python: () => Promise<string | undefined>;
  readonly isProgram: (file: string) => Promise<boolean>;
  /** By the name that it has without links. */
  readonly real: (file: string) => Promise<string>;
}

export interface Found {
  readonly command: readonly [string, ...string[]];
  /** In words: where it was found. */
  readonly from: string;
}

interface Place {
  readonly from: string;
  /** Folders that may have it. */
  folders(around: Surroundings): readonly string[] | Promise<readonly string[]>;
}

const PLACES: readonly Place[] = [
  {
    from: "the selected Python environment",
    folders: async (around) => {
      const python = around.trusted ? await around.python() : undefined;
      return python === undefined ? [] : [paths(around).dirname(python)];
    },
  },
  { from: "PATH", folders: searchPath },
  { from: "uv tool", folders: (around) => uvTool(around) },
  { from: "pipx", folders: (around) => pipx(around) },
];

/** Fails with words for the person where the setting names no program; undefined: there is none anywhere. */
export async function discover(around: Surroundings): Promise<Found | undefined> {
  const [program, ...rest] = around.setting ?? [];
  if (program !== undefined) {
    const file = await named(around, program);
    if (file === undefined) {
      throw new Error(`tark.server.command is ${program}, which is no program that can be run`);
    }
    return { command: [file, ...rest], from: SETTING };
  }
  const [installer, ...given] = around.installer ?? [];
  if (installer !== undefined && paths(around).isAbsolute(installer) && (await around.isProgram(installer))) {
    return { command: [installer, ...given], from: "the tark-lsp that installed the extension" };
  }
  const own = paths(around).join(programsOf(around, around.own), executable(around, PROGRAM));
  if (await around.isProgram(own)) {
    return { command: [own], from: OWN };
  }
  for (const { from, folders } of PLACES) {
    for (const folder of await folders(around)) {
      const file = paths(around).join(folder, executable(around, PROGRAM));
      if (await runs(around, file)) {
        return { command: [file], from };
      }
    }
  }
  return undefined;
}

/** A program by its path, `~/` being the home folder, or by a name in PATH. */
export async function named(around: Surroundings, program: string): Promise<string | undefined> {
  const { isAbsolute, join } = paths(around);
  const file = /^~[/\\]/.test(program) ? join(around.home, program.slice(2)) : program;
  if (isAbsolute(file)) {
    return (await around.isProgram(file)) ? file : undefined;
  }
  const isName = !/[/\\]/.test(file); // else relative to what?
  for (const folder of isName ? searchPath(around) : []) {
    const each = join(folder, executable(around, file));
    if (await runs(around, each)) {
      return each;
    }
  }
  return undefined;
}

/** Where an environment of Python has its programs. */
export function programsOf(around: Pick<Surroundings, "platform">, environment: string): string {
  return paths(around).join(environment, around.platform === "win32" ? "Scripts" : "bin");
}

export function executable(around: Pick<Surroundings, "platform">, name: string): string {
  return around.platform === "win32" && !/\.exe$/i.test(name) ? `${name}.exe` : name;
}

function searchPath(around: Surroundings): readonly string[] {
  const { delimiter, isAbsolute } = paths(around);
  const value = around.environment["PATH"] ?? around.environment["Path"] ?? "";
  return value.split(delimiter).filter((folder) => isAbsolute(folder));
}

function uvTool(around: Surroundings): readonly string[] {
  const { environment: { UV_TOOL_DIR, UV_TOOL_BIN_DIR, XDG_DATA_HOME, APPDATA }, home, platform } = around;
  const { join } = paths(around);
  const data =
    platform === "win32" ? join(APPDATA ?? join(home, "AppData", "Roaming"), "uv", "data") : join(XDG_DATA_HOME ?? join(home, ".local", "share"), "uv");
  const tools = UV_TOOL_DIR ?? join(data, "tools");
  return [UV_TOOL_BIN_DIR, join(home, ".local", "bin"), programsOf(around, join(tools, PROGRAM))].filter(isSet);
}

function pipx(around: Surroundings): readonly string[] {
  const { environment: { PIPX_HOME, PIPX_BIN_DIR, XDG_DATA_HOME, LOCALAPPDATA }, home } = around;
  const { join } = paths(around);
  const homes = [
    PIPX_HOME,
    join(XDG_DATA_HOME ?? join(home, ".local", "share"), "pipx"),
    join(home, ".local", "pipx"),
    join(home, "pipx"),
    LOCALAPPDATA && join(LOCALAPPDATA, "pipx", "pipx"),
  ];
  const venvs = homes.filter(isSet).map((each) => programsOf(around, join(each, "venvs", PROGRAM)));
  return [PIPX_BIN_DIR, ...venvs].filter(isSet);
}

async function runs(around: Surroundings, file: string): Promise<boolean> {
  if (!(await around.isProgram(file))) {
    return false;
  }
  if (!isInWorkspace(around, file) && !isInWorkspace(around, await around.real(file))) {
    return true;
  }
  const isAgreed = around.trusted && around.agreed.includes(file);
  if (!isAgreed) {
    around.passedOver(file);
  }
  return isAgreed;
}

function isInWorkspace(around: Surroundings, file: string): boolean {
  const { relative, isAbsolute, sep } = paths(around);
  const holds = (folder: string, what: string): boolean => {
    const inside = relative(folder, what);
    return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  };
  return around.folders.some((folder) => holds(folder, file) && !holds(folder, around.home));
}

function paths({ platform }: Pick<Surroundings, "platform">): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
