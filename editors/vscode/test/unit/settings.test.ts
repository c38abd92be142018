/** What goes to the server by which way: a workspace can loosen nothing. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Inspected, otherSettings, userSettings } from "../../src/server/settings";

function inspect(set: Record<string, Inspected>) {
  return (key: string): Inspected | undefined => set[key];
}

test("what nobody set is left to config.toml", () => {
  assert.deepEqual(userSettings(inspect({}), true), { workspaceTrusted: true });
  assert.deepEqual(otherSettings(inspect({})), {});
});

test("only one's own values of (user) keys go to the server", () => {
  const everywhere = (value: unknown): Inspected => ({ workspaceValue: value, workspaceFolderValue: value });
  const keys = ["model", "approval", "sandbox", "providers", "limits.turnUsd", "permissions.allow", "editReview"];
  const set = Object.fromEntries(keys.map((key) => [key, everywhere("theirs")]));
  assert.deepEqual(userSettings(inspect(set), false), { workspaceTrusted: false });
  assert.deepEqual(otherSettings(inspect(set)), {});
});

test("a dot in a key is an object on the wire; null is not set", () => {
  const set = {
    model: { globalValue: "openai/gpt-5" },
    editReview: { globalValue: null },
    "limits.turnUsd": { globalValue: 1 },
    "limits.turnRequests": { globalValue: 9 },
    "permissions.allow": { globalValue: ["fetch(docs.python.org)"] },
  };
  assert.deepEqual(userSettings(inspect(set), true), {
    model: "openai/gpt-5",
    limits: { turnUsd: 1, turnRequests: 9 },
    permissions: { allow: ["fetch(docs.python.org)"] },
    workspaceTrusted: true,
  });
});

test("a workspace's rules are added to one's own, and cannot take their place", () => {
  const set = { "permissions.deny": { globalValue: ["run_command"], workspaceValue: [], workspaceFolderValue: ["fetch"] } };
  assert.deepEqual(userSettings(inspect(set), true)["permissions"], { deny: ["run_command"] });
  assert.deepEqual(otherSettings(inspect(set)), { permissions: { deny: ["fetch"] } });
});

test("the nearest value of the other keys counts", () => {
  const set = {
    thinking: { globalValue: "low", workspaceValue: "high" },
    saveAfterEdit: { globalValue: false },
    logLevel: { workspaceValue: "debug", workspaceFolderValue: "info" },
  };
  assert.deepEqual(otherSettings(inspect(set)), { thinking: "high", saveAfterEdit: false, logLevel: "info" });
});

test("every setting of package.json that is for the server goes there, in the scope that it says", () => {
  const told = JSON.parse(readFileSync("package.json", "utf8")) as {
    contributes: { configuration: { properties: Record<string, { scope: string }> }[] };
  };
  const properties = Object.assign({}, ...told.contributes.configuration.map((each) => each.properties)) as Record<
    string,
    { scope: string }
  >;
  const ours = /^tark\.(server|trace|chat)\./;
  const seen = { user: new Set<string>(), other: new Set<string>() };
  userSettings((key) => void seen.user.add(key), true);
  otherSettings((key) => void seen.other.add(key));
  for (const [name, { scope }] of Object.entries(properties).filter(([each]) => !ours.test(each))) {
    const key = name.replace("tark.", "");
    assert.equal(seen.other.has(key), scope === "window", `${name} has the scope ${scope}`);
    assert.ok(seen.user.has(key) || seen.other.has(key), `${name} goes nowhere`);
  }
  assert.deepEqual([...seen.user, ...seen.other].filter((key) => !(`tark.${key}` in properties)), []);
});
