/** The settings of the next turn: the settings of the session, as changed by its custom agent if it has one. Pure. */

import type { EffectiveSettings } from "./protocol";

type Used = Pick<EffectiveSettings, "model" | "mode" | "approval" | "agent">;

export function usedSettings(settings: (Used & Pick<EffectiveSettings, "effective">) | undefined): Used | undefined {
  return settings?.effective ? { ...settings, ...settings.effective } : settings;
}
