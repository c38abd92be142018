/**
 * Runs the tests of this folder in the extension host, and sends the results to the driver. The driver selects the files:
 * `commands` asks if the tests ran each command.
 */

import Mocha from "mocha";
import { tell } from "./hands";
import { untested } from "./window";

const PATIENCE_MS = 90_000;

const FILES: Readonly<Record<string, () => Promise<unknown>>> = {
  places: () => import("./places.test"),
  turns: () => import("./turns.test"),
  undo: () => import("./undo.test"),
  review: () => import("./review.test"),
  waiting: () => import("./waiting.test"),
  sessions: () => import("./sessions.test"),
  mcp: () => import("./mcp.test"),
  agents: () => import("./agents.test"),
  settings: () => import("./settings.test"),
  symbols: () => import("./symbols.test"),
  server: () => import("./server.test"),
};
const WITHOUT_FOLDER: typeof FILES = { noFolder: () => import("./noFolder.test") };

export async function run(): Promise<void> {
  const vscode = await import("vscode");
  const isWhole = vscode.workspace.workspaceFolders !== undefined;
  const wanted = new Set(process.env["TARK_TEST_FILES"]?.split(" "));
  for (const [file, load] of Object.entries(isWhole ? FILES : WITHOUT_FOLDER)) {
    if (!wanted.has(file)) {
      continue;
    }
    const mocha = new Mocha({ ui: "tdd", timeout: PATIENCE_MS, reporter: Mocha.reporters.Base });
    mocha.suite.emit("pre-require", globalThis, file, mocha);
    await load();
    await tested(mocha, file);
  }
  if (isWhole && wanted.has("commands")) {
    await tell({ file: "commands", title: "each command was run", problem: untested().join(", ") });
  }
  await tell({ file: "", title: "", problem: "" });
}

/** Sends each result before the next test requests an action. */
function tested(mocha: Mocha, file: string): Promise<void> {
  let told = Promise.resolve();
  const result = (title: string, problem: string): void => {
    told = told.then(() => tell({ file, title, problem }));
  };
  return new Promise((resolve, reject) => {
    // Runners that are not disposed pass each unhandled rejection on to one another, which multiplies it.
    const runner = mocha.run(() => void told.then(() => mocha.dispose()).then(resolve, reject));
    runner.on("pass", ({ title }) => result(title, ""));
    runner.on("fail", ({ title }, { stack, message }: Error) => result(title, stack ?? message));
  });
}
