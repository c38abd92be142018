/**
 * Answers `tark/clientState` with what the server cannot learn through LSP: what other extensions know, and the selection.
 */

import * as vscode from "vscode";
import type { BaseLanguageClient, Diagnostic, Range } from "vscode-languageclient";
import { lastFileEditor } from "../window/lastFileEditor";
import { askLanguageServers, type CodeAnswer, type CodeQuestion } from "./languageServers";

const OWN_SOURCE = "tark"; // of the server's own diagnostics

/** Params of `tark/clientState`. */
export interface WantedState extends CodeQuestion {
  readonly want: readonly string[];
}

export interface ClientState extends CodeAnswer {
  diagnostics?: { uri: string; diagnostics: Diagnostic[] }[];
  selection?: { uri: string; version: number; range: Range } | null;
}

type Converting = Pick<BaseLanguageClient, "code2ProtocolConverter" | "protocol2CodeConverter">;

export async function clientState({ want, ...question }: WantedState, client: Converting): Promise<ClientState> {
  return {
    ...(await askLanguageServers(want, question, client)),
    ...(want.includes("diagnostics") && { diagnostics: diagnostics(question.uri, client) }),
    ...(want.includes("selection") && { selection: selection(client) ?? null }),
  };
}

function diagnostics(uri: string | null | undefined, { code2ProtocolConverter: code }: Converting) {
  const documents: [vscode.Uri, readonly vscode.Diagnostic[]][] =
    uri == null
      ? vscode.languages.getDiagnostics()
      : [[vscode.Uri.parse(uri), vscode.languages.getDiagnostics(vscode.Uri.parse(uri))]];
  return documents
    .map(([of, all]) => ({
      uri: uri ?? code.asUri(of),
      diagnostics: all.filter((diagnostic) => diagnostic.source !== OWN_SOURCE).map((diagnostic) => code.asDiagnostic(diagnostic)),
    }))
    .filter((document) => document.diagnostics.length > 0);
}

function selection({ code2ProtocolConverter: code }: Converting): ClientState["selection"] {
  const editor = lastFileEditor();
  if (editor === undefined || editor.selection.isEmpty) {
    return undefined;
  }
  const { document } = editor;
  return { uri: code.asUri(document.uri), version: document.version, range: code.asRange(editor.selection) };
}
