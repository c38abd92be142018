/** A server that ends is restarted, later each time, and only a few times. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Restarts } from "../../src/server/restart";

test("delays grow, then the server stays down", () => {
  const restarts = new Restarts(() => 0);
  const delays = [restarts.nextDelay(), restarts.nextDelay(), restarts.nextDelay(), restarts.nextDelay()];
  assert.deepEqual(delays, [300, 3000, undefined, undefined]);
});

test("ends long ago do not count", () => {
  let now = 0;
  const restarts = new Restarts(() => now);
  restarts.nextDelay();
  restarts.nextDelay();
  now = 60_000;
  assert.equal(restarts.nextDelay(), 300);
});

test("a restart by the user resets the count", () => {
  const restarts = new Restarts(() => 0);
  restarts.nextDelay();
  restarts.nextDelay();
  restarts.reset();
  assert.equal(restarts.nextDelay(), 300);
});
