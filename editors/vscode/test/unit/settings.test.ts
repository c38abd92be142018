/** Which settings are sent to the server, and how: a workspace cannot weaken any. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Inspected, otherSettings, userSettings } from "../../src/server/settings";

function inspect(set: Record<string, Inspected>) {
  return (key: string): Inspected | undefined => set[key];
}

test("settings that are not set are left to config.toml", () => {
  assert.deepEqual(userSettings(inspect({}), true), { workspaceTrusted: true });
  assert.deepEqual(otherSettings(inspect({})), {});
});

test("only user values of (user) keys are sent to the server", () => {
  const everywhere = (value: unknown): Inspected => ({ workspaceValue: value, workspaceFolderValue: value });
  const keys = ["model", "approval", "sandbox", "providers", "limits.turnUsd", "permissions.allow", "editReview"];
  const set = Object.fromEntries(keys.map((key) => [key, everywhere("theirs")]));
  assert.deepEqual(userSettings(inspect(set), false), { workspaceTrusted: false });
  assert.deepEqual(otherSettings(inspect(set)), {});
});

test("a dot in a key becomes an object; null is not set", () => {
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

test("rules of a workspace are added to the user's, and cannot replace them", () => {
  const set = { "permissions.deny": { globalValue: ["run_command"], workspaceValue: [], workspaceFolderValue: ["fetch"] } };
  assert.deepEqual(userSettings(inspect(set), true)["permissions"], { deny: ["run_command"] });
  assert.deepEqual(otherSettings(inspect(set)), { permissions: { deny: ["fetch"] } });
});

test("the most specific value of the other keys applies", () => {
  const set = {
    thinking: { globalValue: "low", workspaceValue: "high" },
    saveAfterEdit: { globalValue: false },
    logLevel: { workspaceValue: "debug", workspaceFolderValue: "info" },
  };
  assert.deepEqual(otherSettings(inspect(set)), { thinking: "high", saveAfterEdit: false, logLevel: "info" });
});

test("every server setting of package.json is sent, in its scope", () => {
  const told = JSON.parse(readFileSync("package.json", "utf8")) as {
    contributes: { configuration: { properties: Record<string, { scope: string }> }[] };
  };
  const properties = Object.assign({}, ...told.contributes.configuration.map((group) => group.properties)) as Record<
    string,
    { scope: string }
  >;
  const ours = /^tark\.(server|trace|chat)\./;
  const seen = { user: new Set<string>(), other: new Set<string>() };
  userSettings((key) => void seen.user.add(key), true);
  otherSettings((key) => void seen.other.add(key));
  for (const [name, { scope }] of Object.entries(properties).filter(([key]) => !ours.test(key))) {
    const key = name.replace("tark.", "");
    assert.equal(seen.other.has(key), scope === "window", `${name} has the scope ${scope}`);
    assert.ok(seen.user.has(key) || seen.other.has(key), `${name} goes nowhere`);
  }
  assert.deepEqual([...seen.user, ...seen.other].filter((key) => !(`tark.${key}` in properties)), []);
});
