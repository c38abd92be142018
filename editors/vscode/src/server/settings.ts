/**
 * Which settings the server gets, and when. Keys that the protocol marks (user) are sent in `initializationOptions`,
 * with the values of the user settings; the capability `userSettings` promises that. The others can come from the
 * workspace, too, and are sent by `workspace/didChangeConfiguration`. Settings that are not set are left to
 * config.toml.
 */

/** The part of VS Code's information about a setting that is used. */
export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}
export type Inspect = (key: string) => Inspected | undefined;

const USER_KEYS = [
  "model",
  "mode",
  "approval",
  "editReview",
  "permissions.allow",
  // Also in ADDED_KEYS: the server adds the rules of all scopes; in VS Code, a workspace value replaces the user's.
  "permissions.ask",
  "permissions.deny",
  "sandbox",
  "limits.turnRequests",
  "limits.turnUsd",
  "limits.sessionUsd",
  "limits.toolSeconds",
  "limits.toolResultTokens",
  "providers",
  "sessions.retentionDays",
  "sessions.titles",
] as const;

const OTHER_KEYS = ["thinking", "saveAfterEdit", "checkAfterEdit", "logLevel"] as const;
const ADDED_KEYS = ["permissions.ask", "permissions.deny"] as const;

/** The `initializationOptions`. A change needs a restart. */
export function userSettings(inspect: Inspect, trusted: boolean): Record<string, unknown> {
  const settings = collect(USER_KEYS, (key) => inspect(key)?.globalValue);
  return { ...settings, workspaceTrusted: trusted };
}

/** The settings of `workspace/didChangeConfiguration`. */
export function otherSettings(inspect: Inspect): Record<string, unknown> {
  const settings = collect(OTHER_KEYS, (key) => {
    const known = inspect(key);
    return known?.workspaceFolderValue ?? known?.workspaceValue ?? known?.globalValue;
  });
  const added = collect(ADDED_KEYS, (key) => {
    const known = inspect(key);
    const rules = [known?.workspaceValue, known?.workspaceFolderValue].flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
    return rules.length > 0 ? rules : undefined;
  });
  return { ...settings, ...added };
}

/** The setting `a.b` becomes `b` in the object `a`. */
function collect(keys: readonly string[], value: (key: string) => unknown): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const key of keys) {
    const set = value(key);
    const [section, name] = key.split(".") as [string, string?];
    if (set != null) {
      settings[section] = name === undefined ? set : { ...(settings[section] as object | undefined), [name]: set };
    }
  }
  return settings;
}
