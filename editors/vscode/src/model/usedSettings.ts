/** The settings that the next turn has: with a custom agent, what it makes of those of the session. Pure. */

import type { EffectiveSettings } from "./protocol";

type Used = Pick<EffectiveSettings, "model" | "mode" | "approval" | "agent">;

export function usedSettings(settings: (Used & Pick<EffectiveSettings, "effective">) | undefined): Used | undefined {
  return settings?.effective ? { ...settings, ...settings.effective } : settings;
}
