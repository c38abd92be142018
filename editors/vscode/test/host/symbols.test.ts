/** What other extensions know about code, for `tark/clientState`; and a question about code that is answered with it. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setup, suiteTeardown, test } from "mocha";
import * as vscode from "vscode";
import * as code2Protocol from "vscode-languageclient/lib/common/codeConverter";
import * as protocol2Code from "vscode-languageclient/lib/common/protocolConverter";
import { askLanguageServers, type CodeAnswer } from "../../src/server/languageServers";
import { begin, ended, pathOf, resetWindow, said, state } from "./window";

const PRICES = "def price(item):\n    return item\n";
const CART = "from shop.prices import price\n\n\ndef total(items):\n    return sum(price(item) * 2 for item in items)\n";
const BREAKS = "If it returns None, `total` breaks: `return sum(price(item) * 2 for item in items)`";
const IN_PRICE = { line: 0, character: 5 };

const registered: vscode.Disposable[] = [];

setup(async () => {
  await resetWindow();
  for (const [name, text] of [["shop/prices.py", PRICES], ["shop/cart.py", CART]] as const) {
    mkdirSync(dirname(pathOf(name)), { recursive: true });
    writeFileSync(pathOf(name), text);
  }
});

suiteTeardown(() => {
  for (const provider of registered.splice(0)) {
    provider.dispose();
  }
});

/** Stands for the user's extension for Python: it knows `price` and its caller `total`. */
function registerProviders(): void {
  const files = { language: "python", scheme: "file" };
  const [prices, cart] = [vscode.Uri.file(pathOf("shop/prices.py")), vscode.Uri.file(pathOf("shop/cart.py"))];
  const [head, use] = [new vscode.Range(0, 4, 0, 9), new vscode.Range(4, 15, 4, 20)];
  const { Function } = vscode.SymbolKind;
  const price = new vscode.CallHierarchyItem(Function, "price", "", prices, new vscode.Range(0, 0, 1, 15), head);
  const total = new vscode.CallHierarchyItem(Function, "total", "", cart, new vscode.Range(3, 0, 4, 49), new vscode.Range(3, 4, 3, 9));
  const languages = vscode.languages;
  registered.push(
    languages.registerDefinitionProvider(files, { provideDefinition: () => new vscode.Location(prices, head) }),
    languages.registerReferenceProvider(files, { provideReferences: () => [new vscode.Location(cart, use)] }),
    languages.registerHoverProvider(files, { provideHover: () => new vscode.Hover(["**price**", "of an item"]) }),
    languages.registerDocumentSymbolProvider(files, {
      provideDocumentSymbols: () => [new vscode.DocumentSymbol("price", "", Function, price.range, head)],
    }),
    languages.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: (query) => ("price".startsWith(query) ? [new vscode.SymbolInformation("price", Function, "", new vscode.Location(prices, head))] : []),
    }),
    languages.registerCallHierarchyProvider(files, {
      prepareCallHierarchy: () => price,
      provideCallHierarchyIncomingCalls: () => [new vscode.CallHierarchyIncomingCall(total, [use])],
      provideCallHierarchyOutgoingCalls: () => [],
    }),
  );
}

async function ask(want: string, more: object = {}): Promise<CodeAnswer> {
  const uri = vscode.Uri.file(pathOf("shop/prices.py")).toString();
  const converters = {
    code2ProtocolConverter: code2Protocol.createConverter(),
    protocol2CodeConverter: protocol2Code.createConverter(undefined, false, false),
  };
  return askLanguageServers([want], { uri, position: IN_PRICE, ...more }, converters);
}

async function answered(): Promise<string> {
  const { sessionId } = await begin("who calls price and what breaks if it returns None");
  (await state()).setCurrentSession(sessionId);
  return said(await ended());
}

test("without an extension for the language, the index answers", async () => {
  assert.deepEqual(await ask("definition"), {});
  assert.deepEqual(await ask("symbols", { uri: null, query: "price" }), {});
  const text = await answered();
  assert.match(text, /The caller is `total` in `shop\/cart\.py`, from the index\./);
  assert.ok(text.includes(BREAKS), text);
});

test("with one, it answers, and nothing is opened", async () => {
  registerProviders();
  const [{ uri, range }] = (await ask("definition")).definition as [{ uri: string; range: unknown }];
  assert.deepEqual([uri.endsWith("/shop/prices.py"), range], [true, { start: { line: 0, character: 4 }, end: { line: 0, character: 9 } }]);
  assert.equal((await ask("references")).references?.length, 1);
  assert.equal((await ask("hover")).hover, "**price**\n\nof an item");
  assert.deepEqual((await ask("symbols")).symbols?.map(({ name, kind }) => [name, kind]), [["price", 12]]);
  assert.deepEqual((await ask("symbols", { uri: null, query: "pri" })).symbols?.map(({ name }) => name), ["price"]);
  const { incoming, outgoing } = (await ask("callHierarchy")).callHierarchy!;
  assert.deepEqual([incoming.length, outgoing.length], [1, 0]);
  const shown = vscode.window.visibleTextEditors.map(({ document }) => document.uri.path);
  const text = await answered();
  assert.match(text, /The caller is `total` in `shop\/cart\.py`, from the editor's language server\./);
  assert.ok(text.includes(BREAKS), text);
  assert.deepEqual(vscode.window.visibleTextEditors.map(({ document }) => document.uri.path), shown);
});
