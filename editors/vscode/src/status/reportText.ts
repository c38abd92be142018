/** The text of reports. Pure. */

import { counted, formatMoney, joinParts, shortNumber } from "../text/figures";
import type { Optional } from "../model/protocol";
import { plainLine } from "../text/surfaces";

export interface UsageRow {
  readonly model?: string;
  readonly requests: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd?: Optional<number>;
}

/** The answer of `tark.usage`. */
export interface Usage {
  readonly models: readonly UsageRow[];
  readonly total: UsageRow;
}

/** The answer of `tark.doctor`. */
export interface DoctorFacts {
  readonly version: string;
  readonly missing: readonly { readonly capability: string; readonly instead: string }[];
  readonly policy: { readonly mode: string; readonly approval: string; readonly editReview: string };
  readonly sandbox: { readonly available: boolean; readonly why?: Optional<string> };
  readonly model?: Optional<string>;
  readonly keys: readonly { readonly provider: string; readonly status: string; readonly source?: Optional<string> }[];
  readonly folders: readonly string[];
  readonly problems: readonly string[];
}

export interface EditorFacts {
  readonly extension: string;
  readonly editor: string;
  readonly trusted: boolean;
  readonly command?: string;
  readonly source?: string;
}

export function usageReport(all: Usage, session: Usage | undefined): string {
  const parts = [
    ...(session === undefined ? [] : ["This session", "", ...rows(session), ""]),
    "All sessions",
    "",
    ...rows(all),
    "",
    "A missing cost means that the price is unknown. Tokens are counted by the providers.",
  ];
  return `${parts.join("\n")}\n`;
}

function rows({ models, total }: Usage): string[] {
  if (models.length === 0) {
    return ["  none"];
  }
  const all = models.length > 1 ? [...models, { ...total, model: "all" }] : models;
  const widest = Math.max(...all.map(({ model }) => plainLine(model ?? "").length));
  return all.map((usage) => {
    const tokens = `${shortNumber(usage.inputTokens)} tokens in (${shortNumber(usage.cachedTokens)} cached), ${shortNumber(usage.outputTokens)} out`;
    return `  ${plainLine(usage.model ?? "").padEnd(widest)}  ${joinParts(counted(usage.requests, "request"), tokens, formatMoney(usage.costUsd))}`;
  });
}
