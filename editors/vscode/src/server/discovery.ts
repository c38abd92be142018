/**
 * Finds the server. The first of these that exists is used:
 *
 * 1. the setting `tark.server.command`; if it is not a program, nothing else is tried,
 * 2. the `tark-lsp` that installed the extension (`tark-lsp install vscode`),
 * 3. the extension's own environment, created by "Tark: Install Server", which also removes the note of 2,
 * 4. the Python environment that is selected in the workspace (not in an untrusted workspace),
 * 5. `tark-lsp` in PATH, 6. in the folders of `uv tool` and `pipx`, which need not be in PATH.
 *
 * The server gets the user's API keys. The user chose the first three. Of the others, a program inside a workspace
 * folder is skipped unless the user has approved that program and trusts the workspace. A relative folder in PATH is
 * skipped, too. The home folder does not count as a workspace folder, even if it is open, because its content is the
 * user's own.
 */

import * as path from "node:path";

export const PROGRAM = "tark-lsp";
export const FROM_SETTING = "the setting tark.server.command";
export const FROM_OWN_ENVIRONMENT = "the extension's own environment";

/** What the search reads. Tests replace it. */
export interface DiscoveryEnvironment {
  readonly setting: readonly string[] | undefined;
  /** The command of the `tark-lsp` that installed the extension. */
  readonly installer: readonly string[] | undefined;
  readonly isTrusted: boolean;
  /** The workspace folders. */
  readonly folders: readonly string[];
  /** Programs in workspace folders that the user allowed to run. */
  readonly approved: readonly string[];
  /** Called for a program that is skipped because the user has not allowed it. */
  readonly onSkipped: (program: string) => void;
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The folder of the extension's own environment. */
  readonly ownEnvironment: string;
  /** The selected Python interpreter. */
  readonly python: () => Promise<string | undefined>;
  readonly isProgram: (file: string) => Promise<boolean>;
  /** Resolves symbolic links. */
  readonly realPath: (file: string) => Promise<string>;
}

export interface FoundServer {
  readonly command: readonly [string, ...string[]];
  /** Where it was found, for a message. */
  readonly source: string;
}

interface SearchLocation {
  readonly source: string;
  /** The folders to search. */
  folders(around: DiscoveryEnvironment): readonly string[] | Promise<readonly string[]>;
}

const SEARCH_LOCATIONS: readonly SearchLocation[] = [
  {
    source: "the selected Python environment",
    folders: async (around) => {
      const python = around.isTrusted ? await around.python() : undefined;
      return python === undefined ? [] : [paths(around).dirname(python)];
    },
  },
  { source: "PATH", folders: searchPath },
  { source: "uv tool", folders: (around) => uvTool(around) },
  { source: "pipx", folders: (around) => pipx(around) },
];

/** Undefined if there is no server. Rejects with a message for the user if the setting does not name a program. */
export async function discoverServer(around: DiscoveryEnvironment): Promise<FoundServer | undefined> {
  const [program, ...rest] = around.setting ?? [];
  if (program !== undefined) {
    const file = await resolveProgram(around, program);
    if (file === undefined) {
      throw new Error(`tark.server.command is ${program}, which is not a program that can be run`);
    }
    return { command: [file, ...rest], source: FROM_SETTING };
  }
  const [installer, ...given] = around.installer ?? [];
  if (installer !== undefined && paths(around).isAbsolute(installer) && (await around.isProgram(installer))) {
    return { command: [installer, ...given], source: "the tark-lsp that installed the extension" };
  }
  const own = paths(around).join(scriptsFolder(around, around.ownEnvironment), executableName(around, PROGRAM));
  if (await around.isProgram(own)) {
    return { command: [own], source: FROM_OWN_ENVIRONMENT };
  }
  for (const { source, folders } of SEARCH_LOCATIONS) {
    for (const folder of await folders(around)) {
      const file = paths(around).join(folder, executableName(around, PROGRAM));
      if (await mayRun(around, file)) {
        return { command: [file], source };
      }
    }
  }
  return undefined;
}

/** Finds a program by its absolute path (`~/` is the home folder), or by its name in PATH. */
export async function resolveProgram(around: DiscoveryEnvironment, program: string): Promise<string | undefined> {
  const { isAbsolute, join } = paths(around);
  const file = /^~[/\\]/.test(program) ? join(around.home, program.slice(2)) : program;
  if (isAbsolute(file)) {
    return (await around.isProgram(file)) ? file : undefined;
  }
  const isName = !/[/\\]/.test(file); // a relative path is ambiguous
  for (const folder of isName ? searchPath(around) : []) {
    const candidate = join(folder, executableName(around, file));
    if (await mayRun(around, candidate)) {
      return candidate;
    }
  }
  return undefined;
}

/** The folder of a Python environment that has its programs. */
export function scriptsFolder(around: Pick<DiscoveryEnvironment, "platform">, environment: string): string {
  return paths(around).join(environment, around.platform === "win32" ? "Scripts" : "bin");
}

export function executableName(around: Pick<DiscoveryEnvironment, "platform">, name: string): string {
  return around.platform === "win32" && !/\.exe$/i.test(name) ? `${name}.exe` : name;
}

function searchPath(around: DiscoveryEnvironment): readonly string[] {
  const { delimiter, isAbsolute } = paths(around);
  const value = around.environment["PATH"] ?? around.environment["Path"] ?? "";
  return value.split(delimiter).filter((folder) => isAbsolute(folder));
}

function uvTool(around: DiscoveryEnvironment): readonly string[] {
  const { environment: { UV_TOOL_DIR, UV_TOOL_BIN_DIR, XDG_DATA_HOME, APPDATA }, home, platform } = around;
  const { join } = paths(around);
  const data =
    platform === "win32" ? join(APPDATA ?? join(home, "AppData", "Roaming"), "uv", "data") : join(XDG_DATA_HOME ?? join(home, ".local", "share"), "uv");
  const tools = UV_TOOL_DIR ?? join(data, "tools");
  return [UV_TOOL_BIN_DIR, join(home, ".local", "bin"), scriptsFolder(around, join(tools, PROGRAM))].filter(isSet);
}

function pipx(around: DiscoveryEnvironment): readonly string[] {
  const { environment: { PIPX_HOME, PIPX_BIN_DIR, XDG_DATA_HOME, LOCALAPPDATA }, home } = around;
  const { join } = paths(around);
  const homes = [
    PIPX_HOME,
    join(XDG_DATA_HOME ?? join(home, ".local", "share"), "pipx"),
    join(home, ".local", "pipx"),
    join(home, "pipx"),
    LOCALAPPDATA && join(LOCALAPPDATA, "pipx", "pipx"),
  ];
  const venvs = homes.filter(isSet).map((folder) => scriptsFolder(around, join(folder, "venvs", PROGRAM)));
  return [PIPX_BIN_DIR, ...venvs].filter(isSet);
}

async function mayRun(around: DiscoveryEnvironment, file: string): Promise<boolean> {
  if (!(await around.isProgram(file))) {
    return false;
  }
  if (!isInWorkspace(around, file) && !isInWorkspace(around, await around.realPath(file))) {
    return true;
  }
  const isAgreed = around.isTrusted && around.approved.includes(file);
  if (!isAgreed) {
    around.onSkipped(file);
  }
  return isAgreed;
}

function isInWorkspace(around: DiscoveryEnvironment, file: string): boolean {
  const { relative, isAbsolute, sep } = paths(around);
  const holds = (folder: string, what: string): boolean => {
    const inside = relative(folder, what);
    return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  };
  return around.folders.some((folder) => holds(folder, file) && !holds(folder, around.home));
}

function paths({ platform }: Pick<DiscoveryEnvironment, "platform">): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
