/** Reports in words. Pure. */

import { counted, money, row, short } from "../text/figures";
import type { Optional } from "../model/protocol";
import { line } from "../text/visible";

export interface Spent {
  readonly model?: string;
  readonly requests: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd?: Optional<number>;
}

/** The answer of `tark.usage`. */
export interface Usage {
  readonly models: readonly Spent[];
  readonly total: Spent;
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

export interface Surroundings {
  readonly extension: string;
  readonly editor: string;
  readonly trusted: boolean;
  readonly command?: string;
  readonly from?: string;
}

export function usageReport(all: Usage, session: Usage | undefined): string {
  const parts = [
    ...(session === undefined ? [] : ["This session", "", ...rows(session), ""]),
    "All sessions",
    "",
    ...rows(all),
    "",
    "No cost: nobody knows the price. Told by the providers' own counts of tokens.",
  ];
  return `${parts.join("\n")}\n`;
}

/** The answer of `tark.session.context`. */
export interface Context {
  readonly parts: readonly { readonly name: string; readonly tokens: number; readonly messages?: Optional<number> }[];
  readonly tokens: number;
  readonly contextWindow?: Optional<number>;
  readonly limit?: Optional<number>;
}

/** What the next prompt of a session goes along with. */
export function contextReport(title: string, { parts, tokens, contextWindow, limit }: Context): string {
  const all = [...parts, { name: "all", tokens }].map((part) => ({ ...part, name: line(part.name) }));
  const widest = Math.max(...all.map(({ name }) => name.length));
  const rows = all.map((part) => {
    const messages = "messages" in part && part.messages != null ? counted(part.messages, "message") : "";
    return `  ${part.name.padEnd(widest)}  ${row(counted(part.tokens, "token"), messages)}`;
  });
  const room = [
    contextWindow != null && `The model's window has ${short(contextWindow)} tokens.`,
    limit != null && `Older messages are summed up beyond ${short(limit)}; "Tark: Compact the Session" does it now.`,
  ].filter(Boolean);
  return `${[`What the next prompt of ${title} is sent with`, "", ...rows, "", ...room].join("\n")}\n`;
}

/** `facts`: those of the server, or why there are none. */
export function doctorReport(facts: DoctorFacts | string, around: Surroundings): string {
  const lines = [
    fact("extension", around.extension),
    fact("editor", around.editor),
    fact("workspace", around.trusted ? "trusted" : "not trusted: only your own settings count, and no commands are run"),
    fact("server", around.command === undefined ? "none" : `${around.command} (${around.from ?? ""})`),
  ];
  if (typeof facts === "string") {
    return `${[...lines, "", "Problems", "", `- ${line(facts)}`].join("\n")}\n`;
  }
  const keys = facts.keys.filter((key) => key.status === "ready").map((key) => `${key.provider} (${key.source ?? ""})`);
  lines.push(
    fact("version", facts.version),
    fact("model", facts.model ?? "none set: the first provider with a key is asked about once"),
    fact("policy", `mode ${facts.policy.mode}, approval level ${facts.policy.approval}, edits are reviewed: ${facts.policy.editReview}`),
    fact("keys", keys.join(", ") || 'none: "Tark: Set an API Key" stores one'),
    fact("sandbox", facts.sandbox.available ? "there is one" : (facts.sandbox.why ?? "none")),
    fact("folders", facts.folders.join(", ") || "none"),
    "",
    ...(facts.missing.length === 0 ? [] : ["What this editor gets instead", ""]),
    ...facts.missing.map((each) => `- no ${each.capability}: ${each.instead}`),
    ...(facts.missing.length === 0 ? [] : [""]),
    "Problems",
    "",
    ...(facts.problems.length === 0 ? ["none"] : facts.problems.map((problem) => `- ${line(problem)}`)),
  );
  return `${lines.join("\n")}\n`;
}

function rows({ models, total }: Usage): string[] {
  if (models.length === 0) {
    return ["  none"];
  }
  const all = models.length > 1 ? [...models, { ...total, model: "all" }] : models;
  const widest = Math.max(...all.map(({ model }) => line(model ?? "").length));
  return all.map((each) => {
    const tokens = `${short(each.inputTokens)} tokens in (${short(each.cachedTokens)} cached), ${short(each.outputTokens)} out`;
    return `  ${line(each.model ?? "").padEnd(widest)}  ${row(counted(each.requests, "request"), tokens, money(each.costUsd))}`;
  });
}

function fact(name: string, value: string): string {
  return `${name.padEnd(11)}${line(value)}`;
}
