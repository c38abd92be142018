/** "Fix with Tark" and "Explain with Tark": quick fixes on problems, whoever reported them. */

import * as vscode from "vscode";
import { chatLine } from "../text/surfaces";
import type { Turns } from "./turns";

const OWN_SOURCE = "tark"; // waiting hunks are problems, too
const LONGEST = 4000; // characters of the messages
const OFFERS = [
  { title: "Fix with Tark", kind: "fix" },
  { title: "Explain with Tark", kind: "explain" },
] as const;

/** The argument of the commands `tark.client.fixProblem` and `.explainProblem`. */
interface ProblemPlace {
  readonly uri: string;
  readonly version: number;
  readonly range: { readonly start: Place; readonly end: Place };
  readonly text: string;
}

interface Place {
  readonly line: number;
  readonly character: number;
}

export function offerProblemActions(): vscode.Disposable {
  const provider: vscode.CodeActionProvider = { provideCodeActions: (document, _range, { diagnostics }) => problemActions(document, diagnostics) };
  return vscode.languages.registerCodeActionsProvider({ scheme: "file" }, provider, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] });
}

/** The messages are data, not instructions of the user, because they contain names from the repository. */
export async function runOnProblem(turns: Turns, kind: "fix" | "explain", target: unknown): Promise<void> {
  const { uri, version, range, text } = target as ProblemPlace;
  const prompt = kind === "fix" ? "Fix this problem." : "Explain this problem, and how it can be fixed.";
  await turns.startAbout({ prompt, kind, textDocument: { uri, version }, range, context: [{ type: "text", name: "the problem", text }] });
}

function problemActions(document: vscode.TextDocument, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
  const problems = diagnostics.filter(({ source }) => source !== OWN_SOURCE);
  const [first, ...others] = problems;
  if (first === undefined) {
    return [];
  }
  const { start, end } = others.reduce((range, problem) => range.union(problem.range), first.range);
  const range = { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
  const place: ProblemPlace = { uri: document.uri.toString(), version: document.version, range, text: problems.map(problemText).join("\n").slice(0, LONGEST) };
  return OFFERS.map(({ title, kind }) => {
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.diagnostics = problems;
    action.command = { title, command: `tark.client.${kind}Problem`, arguments: [place] };
    return action;
  });
}

/** `line 3: "x" is not defined (Pylance)` */
function problemText({ message, source, range }: vscode.Diagnostic): string {
  return `line ${range.start.line + 1}: ${chatLine(message)}${source ? ` (${chatLine(source)})` : ""}`;
}
