/** The page of "Tark: Doctor": problems with buttons that solve them, then facts. Pure. It runs no script. */

import { plainLine } from "../text/surfaces";
import type { DoctorFacts, EditorFacts } from "./reportText";
import { sentenceCase } from "../text/serverWords";

/** The commands that its buttons run. The page can run no others. */
export const DOCTOR_COMMANDS = {
  "tark.client.newSession": "Set Up Model", // an empty chat shows what can be set up
  "tark.client.selectModel": "Select Model",
  "tark.client.setKey": "Set API Key",
  "tark.client.install": "Install Server",
  "tark.client.restart": "Restart Server",
  "tark.client.settings": "Open Settings",
  "tark.client.showOutput": "Show Output",
  "tark.client.doctor": "Check Again",
} as const;
type Fix = keyof typeof DOCTOR_COMMANDS;

interface Problem {
  readonly words: string;
  readonly fixes: readonly Fix[];
}
type Fact = readonly [name: string, value: string];

/** `facts`: the facts of the server, or why there are none. */
export function doctorPage(facts: DoctorFacts | string, around: EditorFacts, nonce: string): string {
  const problems = typeof facts === "string" ? [serverProblem(facts)] : problemsOf(facts);
  const body = [
    "<h1>Tark Doctor</h1>",
    ...(problems.length === 0 ? ["<p>No problems were found.</p>"] : ["<h2>Problems</h2>", ...problems.map(problemHtml)]),
    "<h2>Facts</h2>",
    table([...editorFacts(around), ...(typeof facts === "string" ? [] : serverFacts(facts))]),
    ...(typeof facts === "string" || facts.missing.length === 0
      ? []
      : ["<h2>What this editor does not support</h2>", table(facts.missing.map(({ capability, instead }) => [capability, instead]))]),
    buttons(["tark.client.doctor", "tark.client.restart", "tark.client.showOutput"], false),
  ];
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Tark Doctor</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
${body.join("\n")}
</main>
</body>
</html>`;
}

function problemsOf({ model, problems }: DoctorFacts): Problem[] {
  return problems.map((words, index) => ({
    words,
    fixes: index === 0 && !model ? ["tark.client.newSession", "tark.client.setKey", "tark.client.selectModel"] : ["tark.client.settings"],
  }));
}

function serverProblem(words: string): Problem {
  return { words, fixes: ["tark.client.install", "tark.client.restart", "tark.client.settings"] };
}

function editorFacts(around: EditorFacts): Fact[] {
  return [
    ["extension", around.extension],
    ["editor", around.editor],
    ["workspace", around.trusted ? "trusted" : "not trusted: only your user settings apply, and no commands run"],
    ["server", around.command === undefined ? "none" : `${around.command} (${around.source ?? ""})`],
  ];
}

function serverFacts({ version, model, policy, keys, sandbox, folders }: DoctorFacts): Fact[] {
  const ready = keys.filter(({ status }) => status === "ready").map(({ provider, source }) => `${provider} (${source ?? ""})`);
  return [
    ["version", version],
    ["model", model ?? "none"],
    ["policy", `mode ${policy.mode}, approval level ${policy.approval}, edit review ${policy.editReview}`],
    ["keys", ready.join(", ") || "none"],
    ["sandbox", sandbox.available ? "available" : (sandbox.why ?? "none")],
    ["folders", folders.join(", ") || "none"],
  ];
}

function problemHtml({ words, fixes }: Problem): string {
  return `<div class="problem"><p>${escape(sentenceCase(words))}</p>${buttons(fixes, true)}</div>`;
}

function buttons(fixes: readonly Fix[], hasMain: boolean): string {
  const links = fixes.map((fix, index) => `<a class="button${hasMain && index === 0 ? " main" : ""}" href="command:${fix}">${DOCTOR_COMMANDS[fix]}</a>`);
  return `<p class="buttons">${links.join(" ")}</p>`;
}

function table(rows: readonly Fact[]): string {
  return `<table>${rows.map(([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`).join("")}</table>`;
}

function escape(text: string): string {
  return plainLine(text).replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

const STYLE = `
body { padding: 0 16px 16px; color: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); line-height: 1.45; }
main { max-width: 60em; }
h1 { font-size: 1.4em; }
h2 { margin: 16px 0 4px; font-size: 1.1em; }
.problem { margin: 6px 0; padding: 6px 10px; border: 1px solid var(--vscode-contrastBorder, transparent); border-left: 3px solid var(--vscode-editorWarning-foreground); }
.problem p { margin: 0; overflow-wrap: anywhere; }
.buttons { display: flex; flex-wrap: wrap; gap: 4px; margin: 8px 0 0; }
.problem .buttons { margin: 6px 0 0; }
.button { padding: 3px 10px; border: 1px solid var(--vscode-button-border, var(--vscode-contrastBorder, transparent)); border-radius: 2px; background: var(--vscode-button-secondaryBackground); color: var(--vscode-button-secondaryForeground); text-decoration: none; }
.button.main { background: var(--vscode-button-background); color: var(--vscode-button-foreground); }
a:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 1px; }
table { border-collapse: collapse; }
th, td { padding: 2px 12px 2px 0; font-weight: 400; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--vscode-descriptionForeground); white-space: nowrap; }
`;
