/** Why a server was restarted with another configuration, unless the user already knows. Pure. */

import type { StartConfiguration } from "./configuration";

/**
 * Undefined: only workspace trust or API keys have changed. The user has just changed these in a dialog, and the restart
 * has no other effect.
 */
export function restartReason(startedWith: string, wanted: string): string | undefined {
  return settingsOf(startedWith) === settingsOf(wanted) ? undefined : "the server was restarted with your changed settings";
}

function settingsOf(configuration: string): string {
  const { options, command } = JSON.parse(configuration) as StartConfiguration;
  const { workspaceTrusted: _, ...settings } = options;
  return JSON.stringify([settings, command]);
}
