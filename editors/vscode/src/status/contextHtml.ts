/** The page about the context of a session, as HTML without scripts: what the next request contains. Pure. */

import type { Optional } from "../model/protocol";
import { counted, joinParts, shortNumber } from "../text/figures";
import { plainLine } from "../text/surfaces";

interface Part {
  readonly name: string;
  readonly tokens: number;
  readonly uri?: Optional<string>;
  readonly reason?: Optional<string>;
  readonly messages?: Optional<number>;
}

/** The answer of `tark.session.context`. */
export interface ContextUsage {
  readonly parts: readonly Part[];
  readonly tokens: number;
  readonly contextWindow?: Optional<number>;
  readonly limit?: Optional<number>;
}

/** The commands that links of the page run. */
export const PAGE_COMMANDS = ["tark.client.compact", "tark.client.showUsage", "vscode.open"];

const STYLE = `
body { max-width: 46em; padding: 0 20px 20px; line-height: 1.5; }
h1 { margin: 18px 0 4px; font-size: 1.4em; font-weight: 600; }
p a { text-decoration: underline; }
.faint, th { color: var(--vscode-descriptionForeground); font-weight: 400; }
progress { width: 100%; height: 8px; appearance: none; border: 1px solid var(--vscode-widget-border, var(--vscode-descriptionForeground)); border-radius: 4px; overflow: hidden; }
progress::-webkit-progress-bar { background: transparent; }
progress::-webkit-progress-value { background: var(--vscode-progressBar-background); }
table { width: 100%; margin-top: 12px; border-collapse: collapse; }
th, td { padding: 3px 12px 3px 0; text-align: start; vertical-align: baseline; }
td:first-child, th:first-child { overflow-wrap: anywhere; }
.number { text-align: end; white-space: nowrap; }
.bar { width: 28%; min-width: 60px; padding-right: 0; vertical-align: middle; }
.bar progress { display: block; }
tr + tr td { border-top: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent)); }
`;

/** `usage`: undefined if there is no session yet, a text if it cannot be read. */
export function contextHtml(title: string, usage: ContextUsage | string | undefined, nonce: string): string {
  const body = usage === undefined ? paragraph("There is no session yet. Send a prompt to start one.") : typeof usage === "string" ? paragraph(usage) : usageHtml(usage);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'">
<title>Context</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>What the Next Request Contains</h1>
${title === "" ? "" : `<p class="faint">${escaped(title)}</p>`}
${body}
</main>
</body>
</html>`;
}

function usageHtml({ parts, tokens, contextWindow, limit }: ContextUsage): string {
  const filled = contextWindow == null ? counted(tokens, "token") : `${shortNumber(tokens)} of ${shortNumber(contextWindow)} tokens (${percent(tokens, contextWindow)})`;
  const room = limit == null ? "" : `<p>Older messages are summarized when the context reaches ${shortNumber(limit)} tokens. ${link("tark.client.compact", "Compact Session")} does it now.</p>`;
  return `<p><strong>${filled}</strong></p>
${contextWindow == null ? "" : `<progress aria-label="Context window used" max="${contextWindow}" value="${tokens}"></progress>`}
${room}
<table>
<thead><tr><th scope="col">Part</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th><td class="bar"></td></tr></thead>
<tbody>
${parts.map((part) => row(part, tokens)).join("\n")}
</tbody>
</table>
<p class="faint">Tokens are estimates, your next prompt not included. ${link("tark.client.showUsage", "Show Usage")} has the tokens that providers counted, and the cost.</p>`;
}

function row({ name, tokens, uri, reason, messages }: Part, all: number): string {
  const words = messages == null ? plainLine(name) : name === "messages" ? counted(messages, "message") : joinParts(plainLine(name), counted(messages, "message"));
  const named = uri?.startsWith("file:") === true ? link("vscode.open", words, [uri]) : escaped(words);
  const why = reason == null ? "" : ` <span class="faint">${escaped(reason)}</span>`;
  return `<tr><td>${named}${why}</td><td class="number">${shortNumber(tokens)}</td><td class="number">${percent(tokens, all)}</td><td class="bar"><progress aria-hidden="true" max="${Math.max(1, all)}" value="${tokens}"></progress></td></tr>`;
}

function percent(part: number, all: number): string {
  const share = all === 0 ? 0 : (part * 100) / all;
  return share > 0 && share < 1 ? "under 1%" : `${Math.round(share)}%`;
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}

function link(command: string, words: string, given?: readonly string[]): string {
  const query = given === undefined ? "" : `?${encodeURIComponent(JSON.stringify(given))}`;
  return `<a href="command:${command}${query}">${escaped(words)}</a>`;
}

function escaped(text: string): string {
  return plainLine(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
