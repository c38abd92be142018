/** A server that ends is started again, later each time, and not for ever. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Restarts } from "../../src/server/restart";

test("later each time, then it stays down", () => {
  const restarts = new Restarts(() => 0);
  const delays = [restarts.ended(), restarts.ended(), restarts.ended(), restarts.ended()];
  assert.deepEqual(delays, [300, 3000, undefined, undefined]);
});

test("ends long ago do not count", () => {
  let now = 0;
  const restarts = new Restarts(() => now);
  restarts.ended();
  restarts.ended();
  now = 60_000;
  assert.equal(restarts.ended(), 300);
});

test("the person's own restart begins anew", () => {
  const restarts = new Restarts(() => 0);
  restarts.ended();
  restarts.ended();
  restarts.forget();
  assert.equal(restarts.ended(), 300);
});
