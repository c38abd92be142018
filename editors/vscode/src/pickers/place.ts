/** `Ctrl+I`: edits the selection. Without one, lists what can be done with the definition at the cursor. */

import * as vscode from "vscode";
import type { ServerState } from "../model/protocol";
import type { Server } from "../model/server";
import { listRow, plainLine } from "../text/surfaces";
import { type EditorContext, activeEditorContext, contextOf } from "../turns/editorContext";
import type { Turns } from "../turns/turns";
import { sentenceCase } from "../text/serverWords";

const KINDS: readonly (readonly [turnKind: string, label: string, description: string])[] = [
  ["edit", "Edit…", "describe a change of these lines"],
  ["ask", "Ask…", "ask about them"],
  ["explain", "Explain", ""],
  ["fix", "Fix", ""],
  ["test", "Write Tests", ""],
  ["document", "Document", ""],
];

export async function editPlace(server: Server, turns: Turns): Promise<void> {
  const selected = activeEditorContext();
  const editor = vscode.window.activeTextEditor;
  if (selected.description !== "" || editor?.document.uri.scheme !== "file") {
    await turns.startFromEditor("edit", selected);
    return;
  }
  const { title, place } = await placeAtCursor(editor);
  const named = server.running ? (await server.executeCommand<ServerState>("tark.state")).prompts : [];
  const rows = [
    ...KINDS.map(([turnKind, label, description]) => ({ label, description, turnKind })),
    ...(named ?? []).map(({ name, title: words, description }) => ({ label: listRow(words), description: listRow(`/${name} ${description}`), turnKind: name })),
  ];
  const chosen = await vscode.window.showQuickPick(rows, { title: plainLine(title), placeHolder: "What should Tark do here?", matchOnDescription: true });
  if (chosen !== undefined) {
    await turns.startFromEditor(chosen.turnKind, place);
  }
}

/** The innermost symbol around the cursor. If no extension knows one, the server finds the definition. */
async function placeAtCursor({ document, selection }: vscode.TextEditor): Promise<{ title: string; place: EditorContext }> {
  const symbols = await vscode.commands.executeCommand<readonly vscode.DocumentSymbol[] | undefined>("vscode.executeDocumentSymbolProvider", document.uri);
  const found = innermost(symbols ?? [], selection.active);
  if (found !== undefined) {
    const place = contextOf(document, found.range);
    return { title: `${found.name} (${place.description})`, place };
  }
  const place = contextOf(document, selection);
  const description = `the definition at line ${selection.active.line + 1} of ${vscode.workspace.asRelativePath(document.uri).split(/[/\\]/).at(-1) ?? ""}`;
  return { title: sentenceCase(description), place: { ...place, description } };
}

function innermost(symbols: readonly vscode.DocumentSymbol[], position: vscode.Position): vscode.DocumentSymbol | undefined {
  const around = symbols.find(({ range }) => (range as vscode.Range | undefined)?.contains(position)); // some providers give flat lists without ranges
  return around && (innermost(around.children, position) ?? around);
}
