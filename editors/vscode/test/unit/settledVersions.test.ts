/** A request that has just changed is not allowed by a click that was meant for what was there before. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SettledVersions } from "../../src/asking/settledVersions";

test("each version of a request has its own pause", () => {
  let now = 1000;
  const versions = new SettledVersions(() => now);
  versions.note(["r 1"]);
  assert.ok(!versions.isSettled("r 1"));
  now += 500;
  versions.note(["r 1", "s 1"]);
  assert.deepEqual(["r 1", "s 1"].map((version) => versions.isSettled(version)), [true, false]);
  versions.note(["r 2", "s 1"]); // its hunks were edited
  now += 499;
  assert.ok(!versions.isSettled("r 2"));
  assert.ok(!versions.isSettled("r 1"), "it is not there any more");
  now += 1;
  assert.ok(versions.isSettled("r 2"));
});
