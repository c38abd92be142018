/** A server that ends while its state is loaded is neither replaced nor reported as running. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerEndedError } from "../../src/model/server";
import { refresh } from "../../src/server/refresh";

const updates = { applyServerState: () => undefined, setAllHunks: () => undefined };

/** Calls that answer commands in turn: an error is thrown. */
function answering(...answers: (object | Error)[]) {
  const executeCommand = <T>(): Promise<T> => {
    const answer = answers.shift()!;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
  };
  return { executeCommand };
}

const CASES: [title: string, answers: (object | Error)[], lives: boolean, logged: number][] = [
  ["it answers", [{}, { hunks: [] }], true, 0],
  ["it ends before the first answer", [new ServerEndedError("ended")], false, 1],
  ["it ends between the answers", [{}, new ServerEndedError("ended")], false, 1],
  ["it refuses a command", [{}, new Error("unknown command")], true, 1],
];

for (const [title, answers, lives, logged] of CASES) {
  test(title, async () => {
    const problems: unknown[] = [];
    assert.equal(await refresh(answering(...answers), updates, (problem) => problems.push(problem)), lives);
    assert.equal(problems.length, logged);
  });
}
