/** A crash of the server is one message, whatever follows it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerEndedError } from "../../src/model/server";
import { Outage } from "../../src/server/outage";

function newOutage() {
  const told: [string, boolean][] = [];
  return { told, outage: new Outage((message, isDown) => void told.push([message, isDown])) };
}

const failure = new Error("the server did not start: exit code 1");
const CLASSES: [title: string, happens: (outage: Outage) => void, message: string, isDown: boolean][] = [
  ["it runs again", (outage) => outage.serverRuns(), "the server ended (killed), 1 turn was interrupted; it was restarted", false],
  [
    "it ends again before it has answered",
    (outage) => {
      outage.serverEnded("exit code 1", 0);
      outage.serverRuns();
    },
    "the server ended (killed), 1 turn was interrupted; it was restarted",
    false,
  ],
  [
    "it ends too often",
    (outage) => {
      outage.serverEnded("killed", 1);
      outage.serverEnded("killed", 0);
      outage.staysDown();
    },
    "the server ended 3 times within a minute (killed), 2 turns were interrupted; it is not restarted again",
    true,
  ],
  [
    "it does not start",
    (outage) => assert.ok(outage.startFailed(failure, failure.message) instanceof ServerEndedError),
    "the server ended (killed), 1 turn was interrupted; the server did not start: exit code 1",
    true,
  ],
];

for (const [title, happens, message, isDown] of CLASSES) {
  test(`${title}: one message`, () => {
    const { told, outage } = newOutage();
    outage.serverEnded("killed", 1);
    assert.deepEqual(told, [], "it is not known yet what follows");
    happens(outage);
    outage.serverRuns();
    assert.deepEqual(told, [[message, isDown]]);
  });
}

test("without a crash nothing is said, and a failed start says what it is", () => {
  const { told, outage } = newOutage();
  outage.serverRuns();
  assert.equal(outage.startFailed(failure, failure.message), failure);
  assert.deepEqual(told, []);
});
