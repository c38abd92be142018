/** Runs the tests of this folder in the extension host, and tells their results to the driver. */

import Mocha from "mocha";
import { type Result, tell } from "./hands";
import { untested } from "./window";

const PATIENCE_MS = 90_000;

const FILES: Readonly<Record<string, () => Promise<unknown>>> = {
  places: () => import("./places.test"),
  turns: () => import("./turns.test"),
  review: () => import("./review.test"),
  waiting: () => import("./waiting.test"),
  sessions: () => import("./sessions.test"),
  settings: () => import("./settings.test"),
  server: () => import("./server.test"),
};
const WITHOUT_FOLDER: typeof FILES = { noFolder: () => import("./noFolder.test") };

export async function run(): Promise<void> {
  const vscode = await import("vscode");
  const isWhole = vscode.workspace.workspaceFolders !== undefined;
  for (const [file, load] of Object.entries(isWhole ? FILES : WITHOUT_FOLDER)) {
    const mocha = new Mocha({ ui: "tdd", timeout: PATIENCE_MS, reporter: Mocha.reporters.Base });
    mocha.suite.emit("pre-require", globalThis, file, mocha);
    await load();
    for (const result of await results(mocha, file)) {
      await tell(result);
    }
  }
  if (isWhole) {
    await tell({ file: "commands", title: "each command was run", problem: untested().join(", ") });
  }
  await tell({ file: "", title: "", problem: "" });
}

function results(mocha: Mocha, file: string): Promise<Result[]> {
  const told: Result[] = [];
  return new Promise((resolve) => {
    const runner = mocha.run(() => resolve(told));
    runner.on("pass", (test) => told.push({ file, title: test.title, problem: "" }));
    runner.on("fail", (test, problem: Error) => told.push({ file, title: test.title, problem: problem.stack ?? problem.message }));
  });
}
