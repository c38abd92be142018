/** A server that ends is restarted, later each time, and only a few times. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Restarts } from "../../src/server/restart";
import { restartReason } from "../../src/server/restartReason";

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

test("a restart names changed settings, and nothing that the user has just done in a dialog", () => {
  const started = { options: { model: "a", workspaceTrusted: false }, keys: {}, command: undefined };
  const reasonFor = (changes: object): string | undefined => restartReason(JSON.stringify(started), JSON.stringify({ ...started, ...changes }));
  const trusted = { model: "a", workspaceTrusted: true };
  assert.equal(reasonFor({ options: trusted }), undefined);
  assert.equal(reasonFor({ keys: { KEY: "k" } }), undefined);
  assert.equal(reasonFor({ options: trusted, keys: { KEY: "k" } }), undefined);
  const changed = "the server was restarted with your changed settings";
  assert.equal(reasonFor({ options: { ...trusted, model: "b" } }), changed);
  assert.equal(reasonFor({ command: ["tark-lsp"] }), changed);
});
