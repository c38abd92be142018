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

/** `facts`: those of the server, or why there are none. */
export function doctorReport(facts: DoctorFacts | string, around: EditorFacts): string {
  const lines = [
    fact("extension", around.extension),
    fact("editor", around.editor),
    fact("workspace", around.trusted ? "trusted" : "not trusted: only your user settings apply, and no commands run"),
    fact("server", around.command === undefined ? "none" : `${around.command} (${around.source ?? ""})`),
  ];
  if (typeof facts === "string") {
    return `${[...lines, "", "Problems", "", `- ${plainLine(facts)}`].join("\n")}\n`;
  }
  const keys = facts.keys.filter((key) => key.status === "ready").map((key) => `${key.provider} (${key.source ?? ""})`);
  lines.push(
    fact("version", facts.version),
    fact("model", facts.model ?? "not set: Tark asks once to use the first provider with a key"),
    fact("policy", `mode ${facts.policy.mode}, approval level ${facts.policy.approval}, edit review ${facts.policy.editReview}`),
    fact("keys", keys.join(", ") || 'none: "Tark: Set API Key" stores one'),
    fact("sandbox", facts.sandbox.available ? "available" : (facts.sandbox.why ?? "none")),
    fact("folders", facts.folders.join(", ") || "none"),
    "",
    ...(facts.missing.length === 0 ? [] : ["What this editor does not support", ""]),
    ...facts.missing.map((lack) => `- no ${lack.capability}: ${lack.instead}`),
    ...(facts.missing.length === 0 ? [] : [""]),
    "Problems",
    "",
    ...(facts.problems.length === 0 ? ["none"] : facts.problems.map((problem) => `- ${plainLine(problem)}`)),
  );
  return `${lines.join("\n")}\n`;
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

function fact(name: string, value: string): string {
  return `${name.padEnd(11)}${plainLine(value)}`;
}
