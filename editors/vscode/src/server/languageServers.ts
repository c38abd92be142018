/**
 * Asks the language extensions of VS Code about code, for `tark/clientState`. A file that is not open is loaded by VS Code
 * without being shown.
 */

import * as vscode from "vscode";
import type { BaseLanguageClient, DocumentSymbol, Location, Position, SymbolInformation } from "vscode-languageclient";

export interface CodeQuestion {
  readonly uri?: string | null;
  readonly position?: Position | null;
  readonly query?: string | null;
}

type Converting = Pick<BaseLanguageClient, "code2ProtocolConverter" | "protocol2CodeConverter">;
type Items = vscode.CallHierarchyItem[];

/** Fields with LSP's types; a field is absent if no extension knows anything. */
export interface CodeAnswer {
  definition?: Location[];
  references?: Location[];
  symbols?: (DocumentSymbol | SymbolInformation)[];
  hover?: string;
  callHierarchy?: { incoming: object[]; outgoing: object[] };
}

const asked: string[] = []; // the files of the questions that wait for an answer

/** Does a question about the file wait for an answer? VS Code also asks Tark's own server, which then answers nothing. */
export function isAskedAbout(document: vscode.TextDocument): boolean {
  return asked.includes(document.uri.toString());
}

const WANTED = ["definition", "references", "symbols", "hover", "callHierarchy"] as const;

export async function askLanguageServers(want: readonly string[], question: CodeQuestion, client: Converting): Promise<CodeAnswer> {
  const answer: CodeAnswer = {};
  const file = question.uri == null ? "" : client.protocol2CodeConverter.asUri(question.uri).toString();
  asked.push(file);
  try {
    for (const wanted of WANTED.filter((name) => want.includes(name))) {
      Object.assign(answer, await new Asked(question, client)[wanted]());
    }
  } finally {
    asked.splice(asked.indexOf(file), 1);
  }
  return answer;
}

class Asked {
  constructor(
    private readonly question: CodeQuestion,
    private readonly client: Converting,
  ) {}

  async definition(): Promise<CodeAnswer> {
    const found = await this.at<(vscode.Location | vscode.LocationLink)[]>("vscode.executeDefinitionProvider");
    return found?.length ? { definition: found.map((place) => this.location(place)) } : {};
  }

  async references(): Promise<CodeAnswer> {
    const found = await this.at<vscode.Location[]>("vscode.executeReferenceProvider");
    return found?.length ? { references: found.map((place) => this.location(place)) } : {};
  }

  async symbols(): Promise<CodeAnswer> {
    const { uri, query } = this.question;
    if (uri == null) {
      const found = await execute<vscode.SymbolInformation[]>("vscode.executeWorkspaceSymbolProvider", query ?? "");
      return found?.length ? { symbols: found.map((symbol) => this.information(symbol)) } : {};
    }
    const found = await execute<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>(
      "vscode.executeDocumentSymbolProvider",
      this.client.protocol2CodeConverter.asUri(uri),
    );
    return found?.length ? { symbols: found.map((symbol) => this.symbol(symbol)) } : {};
  }

  async hover(): Promise<CodeAnswer> {
    const found = await this.at<vscode.Hover[]>("vscode.executeHoverProvider");
    const texts = (found ?? []).flatMap(({ contents }) => contents as vscode.MarkdownString[]); // VS Code makes them so
    const said = texts
      .map((text) => text.value)
      .filter((text) => text.trim() !== "")
      .join("\n\n");
    return said === "" ? {} : { hover: said };
  }

  async callHierarchy(): Promise<CodeAnswer> {
    const items = await this.at<Items>("vscode.prepareCallHierarchy");
    if (!items?.length) {
      return {};
    }
    const incoming: object[] = [];
    const outgoing: object[] = [];
    for (const item of items) {
      for (const call of (await execute<vscode.CallHierarchyIncomingCall[]>("vscode.provideIncomingCalls", item)) ?? []) {
        incoming.push({ from: this.item(call.from), fromRanges: this.ranges(call.fromRanges) });
      }
      for (const call of (await execute<vscode.CallHierarchyOutgoingCall[]>("vscode.provideOutgoingCalls", item)) ?? []) {
        outgoing.push({ to: this.item(call.to), fromRanges: this.ranges(call.fromRanges) });
      }
    }
    return { callHierarchy: { incoming, outgoing } };
  }

  private async at<T>(command: string): Promise<T | undefined> {
    const { uri, position } = this.question;
    const { protocol2CodeConverter: protocol } = this.client;
    return uri == null || position == null ? undefined : execute<T>(command, protocol.asUri(uri), protocol.asPosition(position));
  }

  private location(place: vscode.Location | vscode.LocationLink): Location {
    const { code2ProtocolConverter: code } = this.client;
    return "targetUri" in place
      ? { uri: code.asUri(place.targetUri), range: code.asRange(place.targetSelectionRange ?? place.targetRange) }
      : { uri: code.asUri(place.uri), range: code.asRange(place.range) };
  }

  private symbol(symbol: vscode.DocumentSymbol | vscode.SymbolInformation): DocumentSymbol | SymbolInformation {
    if ("location" in symbol && !("children" in symbol)) {
      return this.information(symbol);
    }
    const { name, kind, range, selectionRange, children } = symbol as vscode.DocumentSymbol;
    const { code2ProtocolConverter: code } = this.client;
    return {
      name,
      kind: code.asSymbolKind(kind),
      range: code.asRange(range),
      selectionRange: code.asRange(selectionRange),
      children: children.map((child) => this.symbol(child) as DocumentSymbol),
    };
  }

  private information({ name, kind, containerName, location }: vscode.SymbolInformation): SymbolInformation {
    const { code2ProtocolConverter: code } = this.client;
    return { name, kind: code.asSymbolKind(kind), containerName, location: this.location(location) };
  }

  private item({ name, kind, uri, range, selectionRange }: vscode.CallHierarchyItem): object {
    const { code2ProtocolConverter: code } = this.client;
    return {
      name,
      kind: code.asSymbolKind(kind),
      uri: code.asUri(uri),
      range: code.asRange(range),
      selectionRange: code.asRange(selectionRange),
    };
  }

  private ranges(ranges: readonly vscode.Range[]): object[] {
    return ranges.map((range) => this.client.code2ProtocolConverter.asRange(range));
  }
}

async function execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
  return vscode.commands.executeCommand<T | undefined>(command, ...args);
}
