/** The rows of the list of MCP servers and hooks, and their texts. Pure. */

import type { Hook, HookList, Listed, McpServer, McpTool, OfferKind, ServerList, Unanswered } from "../model/mcp";
import { counted, joinParts } from "../text/figures";
import { plainExcerpt, plainLine } from "../text/surfaces";

/** `isOn`: the state of its switch; undefined: it has none. */
export interface Row {
  readonly kind: OfferKind | "tool" | "problem";
  readonly id: string;
  /** Of the server or hook. */
  readonly name: string;
  readonly tool?: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: string;
  readonly isWarning: boolean;
  readonly isOn?: boolean;
  /** For the `when` of menus: words with a space before and after each. */
  readonly context: string;
  readonly rows: readonly Row[];
}

const STATES: Readonly<Record<string, readonly [words: string, icon: string, isWarning: boolean]>> = {
  off: ["off", "circle-slash", false],
  waiting: ["waits for your approval", "question", true],
  changed: ["changed, off until you approve it", "warning", true],
  stopped: ["not started yet", "circle-outline", false],
  starting: ["starting", "loading~spin", false],
  running: ["running", "pass", false],
  failed: ["failed", "error", true],
  needsLogin: ["needs login", "key", true],
  approved: ["approved", "pass", false],
};
const TOOL_STATES: Readonly<Record<string, readonly [words: string, icon: string, isWarning: boolean]>> = {
  on: ["", "tools", false],
  off: ["off", "circle-slash", false],
  changed: ["changed, off until you approve it", "warning", true],
  new: ["new, off until you approve it", "warning", true],
  gone: ["the server no longer has it", "circle-slash", true],
};
const LONGEST = 120;

export function rowsOf({ servers, problems }: ServerList, { hooks, problems: ofHooks }: HookList): Row[] {
  return [...servers.map(serverRow), ...hooks.map(hookRow), ...[...problems, ...ofHooks].map(problemRow)];
}

/** How many wait for an approval, or do not work. */
export function waitingCount(rows: readonly Row[]): number {
  return rows.filter(({ context }) => /\b(waiting|changed|failed|needsLogin)\b/.test(context)).length;
}

/** One sentence about servers and hooks that the user was not told about before. */
export function newsText(unanswered: readonly Unanswered[]): string {
  const [first] = unanswered;
  if (unanswered.length === 1 && first !== undefined) {
    const what = `${first.kind === "server" ? "the MCP server" : "the hook"} ${first.name}`;
    return first.changed ? `${what} changed since you approved it, so it is off` : `${what} waits for your approval`;
  }
  const count = (kind: OfferKind): number => unanswered.filter((each) => each.kind === kind).length;
  const parts = [count("server") > 0 && counted(count("server"), "MCP server"), count("hook") > 0 && counted(count("hook"), "hook")];
  return `${parts.filter((part) => part !== false).join(" and ")} wait for your approval`;
}

function serverRow(server: McpServer): Row {
  const [words, icon, isWarning] = stateOf(server.state);
  const on = server.tools.filter(({ state }) => state === "on").length;
  const tools = server.tools.length > 0 && (on < server.tools.length ? `${String(on)} of ${counted(server.tools.length, "tool")}` : counted(on, "tool"));
  const hasSwitch = server.tools.length > 0 && !["waiting", "failed"].includes(server.state) && !server.reason.startsWith("its settings");
  return {
    ...named("server", server),
    description: joinParts(words, ["failed", "needsLogin"].includes(server.state) && plainExcerpt(server.reason, LONGEST), tools),
    tooltip: lines(server.reason, server.runs, server.unconfined && `it runs without a sandbox: ${server.unconfined}`, ...originLine(server), ...server.problems),
    ...{ icon, isWarning },
    ...(hasSwitch && { isOn: server.state !== "off" }),
    rows: server.tools.map((tool) => toolRow(server, tool)),
  };
}

function toolRow(server: McpServer, tool: McpTool): Row {
  const [words, icon, isWarning] = TOOL_STATES[tool.state] ?? [tool.state, "tools", false];
  const isSwitch = ["on", "off"].includes(tool.state) && tool.reason === "";
  return {
    kind: "tool",
    id: `tool ${server.name} ${tool.name}`,
    name: server.name,
    tool: tool.name,
    label: plainExcerpt(tool.name, LONGEST),
    description: joinParts(words, plainExcerpt(tool.description, LONGEST)),
    tooltip: lines(tool.fullName, tool.reason, tool.description),
    ...{ icon, isWarning },
    ...(isSwitch && { isOn: tool.state === "on" }),
    context: ` tool ${tool.state} `,
    rows: [],
  };
}

function hookRow(hook: Hook): Row {
  const [words, icon, isWarning] = stateOf(hook.state);
  return {
    ...named("hook", hook),
    description: joinParts(`hook, ${hook.on}`, hook.origin === "project" || hook.state !== "approved" ? words : "yours"),
    tooltip: lines(hook.reason, hook.runs, ...originLine(hook)),
    ...{ icon, isWarning },
    rows: [],
  };
}

function problemRow(problem: string, index: number): Row {
  const label = plainExcerpt(problem, LONGEST);
  const tooltip = plainLine(problem);
  return { kind: "problem", id: `problem ${String(index)}`, name: "", label, description: "", tooltip, icon: "warning", isWarning: true, context: " problem ", rows: [] };
}

function named(kind: OfferKind, { name, state, origin }: Listed): Pick<Row, "kind" | "id" | "name" | "label" | "context"> {
  return { kind, id: `${kind} ${name}`, name, label: plainLine(name), context: ` ${kind} ${state} ${origin} ` };
}

function originLine({ origin, source }: Listed): string[] {
  return [origin === "project" ? `offered by ${source}` : origin === "user" ? "in your config.toml" : "in the settings of your editor"];
}

function stateOf(state: string): readonly [words: string, icon: string, isWarning: boolean] {
  return STATES[state] ?? [plainLine(state), "circle-outline", false];
}

function lines(...parts: (string | false)[]): string {
  return parts
    .filter((part) => part !== false && part !== "")
    .map((part) => plainLine(part as string))
    .join("\n");
}
