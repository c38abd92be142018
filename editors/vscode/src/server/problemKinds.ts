/** Hides code actions of the server that the extension offers itself (turns/problems.ts). Pure. */

const OFFERED = new Set(["fix", "explain"]);
const OWN_SOURCE = "tark";

interface Action {
  readonly command?: string | { readonly command: string; readonly arguments?: unknown[] };
  readonly arguments?: unknown[];
}

/** On a problem, the extension's own quick fixes replace the server's "Fix" and "Explain". */
export function withoutOffered<A extends Action>(actions: readonly A[], diagnostics: readonly { readonly source?: string | undefined }[]): A[] {
  const isOnProblem = diagnostics.some(({ source }) => source !== OWN_SOURCE);
  return actions.filter((action) => !(isOnProblem && isOffered(action)));
}

function isOffered(action: Action): boolean {
  const { command, arguments: given = [] } = typeof action.command === "object" ? action.command : { command: action.command, arguments: action.arguments };
  const [argument] = given as [{ kind?: string; prompt?: string }?];
  return command === "tark.turn.start" && OFFERED.has(argument?.kind ?? "") && argument?.prompt === "";
}
