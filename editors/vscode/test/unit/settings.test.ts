/** Which settings are sent to the server, and how: a workspace cannot weaken any. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Inspect, type Inspected, type Manifest, otherSettings, serverSettings, userSettings } from "../../src/server/settings";

const ALL = serverSettings(JSON.parse(readFileSync("package.json", "utf8")) as Manifest);

function user(settings: Inspect, trusted: boolean): Record<string, unknown> {
  return userSettings(ALL, settings, trusted);
}

function other(settings: Inspect): Record<string, unknown> {
  return otherSettings(ALL, settings);
}

function inspect(set: Record<string, Inspected>) {
  return (key: string): Inspected | undefined => set[key];
}

test("settings that are not set are left to config.toml", () => {
  assert.deepEqual(user(inspect({}), true), { workspaceTrusted: true });
  assert.deepEqual(other(inspect({})), {});
});

test("only user values of (user) keys are sent to the server", () => {
  const everywhere = (value: unknown): Inspected => ({ workspaceValue: value, workspaceFolderValue: value });
  const keys = ["model", "approval", "sandbox", "providers", "limits.turnUsd", "permissions.allow", "editReview"];
  const set = Object.fromEntries(keys.map((key) => [key, everywhere("theirs")]));
  assert.deepEqual(user(inspect(set), false), { workspaceTrusted: false });
  assert.deepEqual(other(inspect(set)), {});
});

test("a dot in a key becomes an object; null is not set", () => {
  const set = {
    model: { globalValue: "openai/gpt-5" },
    editReview: { globalValue: null },
    "limits.turnUsd": { globalValue: 1 },
    "limits.turnRequests": { globalValue: 9 },
    "permissions.allow": { globalValue: ["fetch(docs.python.org)"] },
  };
  assert.deepEqual(user(inspect(set), true), {
    model: "openai/gpt-5",
    limits: { turnUsd: 1, turnRequests: 9 },
    permissions: { allow: ["fetch(docs.python.org)"] },
    workspaceTrusted: true,
  });
});

test("rules of a workspace are added to the user's, and cannot replace them", () => {
  const set = { "permissions.deny": { globalValue: ["run_command"], workspaceValue: [], workspaceFolderValue: ["fetch"] } };
  assert.deepEqual(user(inspect(set), true)["permissions"], { deny: ["run_command"] });
  assert.deepEqual(other(inspect(set)), { permissions: { deny: ["fetch"] } });
});

test("the most specific value of the other keys applies", () => {
  const set = {
    thinking: { globalValue: "low", workspaceValue: "high" },
    saveAfterEdit: { globalValue: false },
    logLevel: { workspaceValue: "debug", workspaceFolderValue: "info" },
  };
  assert.deepEqual(other(inspect(set)), { thinking: "high", saveAfterEdit: false, logLevel: "info" });
});

test("the scope in package.json decides how a setting is sent", () => {
  const properties = {
    "tark.a": { scope: "application" },
    "tark.limits.b": { scope: "application" },
    "tark.permissions.c": { scope: "application" },
    "tark.permissions.d": { scope: "window" },
    "tark.e": { scope: "window" },
    "tark.server.f": { scope: "window" },
    "tark.chat.g": { scope: "application" },
  };
  assert.deepEqual(serverSettings({ contributes: { configuration: [{ properties }] } }), {
    user: ["a", "limits.b", "permissions.c", "permissions.d"],
    other: ["e"],
    added: ["permissions.d"],
  });
});
