/** Why a running server is replaced by one with another configuration, as far as the user does not know it. Pure. */

import type { StartConfiguration } from "./configuration";

/**
 * Undefined: only workspace trust or API keys have changed. The user has just changed these in a dialog of its own, and
 * nothing else follows from it.
 */
export function restartReason(startedWith: string, wanted: string): string | undefined {
  return settingsOf(startedWith) === settingsOf(wanted) ? undefined : "the server was restarted with your changed settings";
}

function settingsOf(configuration: string): string {
  const { options, command } = JSON.parse(configuration) as StartConfiguration;
  const { workspaceTrusted: _, ...settings } = options;
  return JSON.stringify([settings, command]);
}
