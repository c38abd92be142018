/**
 * Decides which settings the server gets, and when. package.json lists the settings, and the scope of each decides:
 *
 * - `application` (marked as (user) in the protocol): sent in `initializationOptions`, with the values of the user settings.
 *   The capability `userSettings` promises that.
 * - other scopes: can also come from the workspace, and are sent by `workspace/didChangeConfiguration`.
 *
 * For settings that are not set, config.toml applies.
 */

/** The part of package.json that is used. */
export interface Manifest {
  readonly contributes: {
    readonly configuration: readonly { readonly properties: Readonly<Record<string, { readonly scope: string }>> }[];
  };
}

/** The settings of the server, without the prefix `tark.`. */
export interface ServerSettings {
  readonly user: readonly string[];
  readonly other: readonly string[];
  /** Rules: the server combines the rules of all scopes, while in VS Code a value of the workspace replaces the user's. */
  readonly added: readonly string[];
}

/** The part of VS Code's information about a setting that is used. */
export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}
export type Inspect = (key: string) => Inspected | undefined;

const OF_THE_EXTENSION = /^(server|trace|chat)\./;

export function serverSettings(manifest: Manifest): ServerSettings {
  const settings = manifest.contributes.configuration
    .flatMap((group) => Object.entries(group.properties))
    .map(([name, { scope }]) => ({ key: name.replace(/^tark\./, ""), isUser: scope !== "window" }))
    .filter(({ key }) => !OF_THE_EXTENSION.test(key));
  const keys = settings.map(({ key }) => key);
  const others = settings.filter(({ isUser }) => !isUser).map(({ key }) => key);
  const added = others.filter((key) => key.startsWith("permissions."));
  const other = others.filter((key) => !added.includes(key));
  return { user: keys.filter((key) => !other.includes(key)), other, added };
}

/** The `initializationOptions`. A change needs a restart. */
export function userSettings(settings: ServerSettings, inspect: Inspect, trusted: boolean): Record<string, unknown> {
  return { ...collect(settings.user, (key) => inspect(key)?.globalValue), workspaceTrusted: trusted };
}

/** The settings of `workspace/didChangeConfiguration`. */
export function otherSettings(settings: ServerSettings, inspect: Inspect): Record<string, unknown> {
  const others = collect(settings.other, (key) => {
    const known = inspect(key);
    return known?.workspaceFolderValue ?? known?.workspaceValue ?? known?.globalValue;
  });
  const added = collect(settings.added, (key) => {
    const known = inspect(key);
    const rules = [known?.workspaceValue, known?.workspaceFolderValue].flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
    return rules.length > 0 ? rules : undefined;
  });
  return { ...others, ...added };
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
