/**
 * Answers `tark/clientState`: what LSP does not tell the server, namely other servers' diagnostics and the selection.
 */

import * as vscode from "vscode";
import type { BaseLanguageClient, Diagnostic, Range } from "vscode-languageclient";
import { lastFileEditor } from "../window/lastFileEditor";

const OWN_SOURCE = "tark"; // of the server's own diagnostics

/** Params of `tark/clientState`. */
export interface WantedState {
  readonly want: readonly string[];
  readonly uri?: string | null;
}

export interface ClientState {
  diagnostics?: { uri: string; diagnostics: Diagnostic[] }[];
  selection?: { uri: string; version: number; range: Range } | null;
}

type Converting = Pick<BaseLanguageClient, "code2ProtocolConverter">;

export function clientState({ want, uri }: WantedState, client: Converting): ClientState {
  return {
    ...(want.includes("diagnostics") && { diagnostics: diagnostics(uri, client) }),
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
