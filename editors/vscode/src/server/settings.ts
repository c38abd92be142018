/**
 * Which settings go to the server, and when. Keys that the contract marks (user) go with `initializationOptions`, as the
 * person set them in their own settings: we vouch for that by `userSettings`. The others may come from the workspace, too,
 * and go by `workspace/didChangeConfiguration`. What nobody set is left to config.toml.
 */

/** What VS Code knows of a setting, as far as it is used. */
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
  // Also in the other list. Rules of layers add up at the server; in VS Code the workspace's take the place of one's own.
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

/** `initializationOptions`. A change of it needs a new server. */
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
    const rules = [known?.workspaceValue, known?.workspaceFolderValue].flatMap((each) => (Array.isArray(each) ? (each as unknown[]) : []));
    return rules.length > 0 ? rules : undefined;
  });
  return { ...settings, ...added };
}

/** `a.b` of the setting is `b` in the object `a`. */
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
