/** Shows what the user can approve, in full, as documents with code lenses and title buttons to approve or reject it. */

import * as vscode from "vscode";
import { documentText, plainLine } from "../text/surfaces";

export const OFFER_SCHEME = "tark-offer";

export interface Offer {
  readonly title: string;
  readonly text: string;
  readonly isDiff: boolean;
  /** The label of the approval, and its function; undefined: there is nothing to approve. */
  readonly yes?: readonly [label: string, run: () => Promise<unknown>];
  /** The approval is being carried out. */
  readonly isBusy?: boolean;
}

export class Offers implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly relensed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.relensed.event;
  /** By path of the document. */
  private readonly offers = new Map<string, Offer>();
  private readonly owned: vscode.Disposable;

  constructor() {
    this.owned = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(OFFER_SCHEME, this),
      vscode.languages.registerCodeLensProvider({ scheme: OFFER_SCHEME }, this),
      vscode.window.onDidChangeActiveTextEditor(() => this.updateContext()),
      this.changed,
      this.relensed,
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return documentText(this.offers.get(uri.path)?.text ?? "This is over: open it again from the list of MCP servers.\n");
  }

  /** Lenses at both ends of the document, since a list of tools can be long. */
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { yes, isBusy } = this.offers.get(document.uri.path) ?? {};
    if (isBusy === true) {
      return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title: "$(loading~spin) Working…", command: "" })];
    }
    if (yes === undefined) {
      return [];
    }
    const lines = document.lineCount > 40 ? [0, document.lineCount - 1] : [0];
    return lines.flatMap((line) => {
      const range = new vscode.Range(line, 0, line, 0);
      return [
        new vscode.CodeLens(range, { title: `$(check) ${yes[0]}`, command: "tark.client.mcpYes", arguments: [document.uri] }),
        new vscode.CodeLens(range, { title: "$(close) No", command: "tark.client.mcpNo", arguments: [document.uri] }),
      ];
    });
  }

  /** Opens the document, or changes it if it is open. */
  async show(offer: Offer): Promise<void> {
    const uri = vscode.Uri.from({ scheme: OFFER_SCHEME, path: `/${plainLine(offer.title).replaceAll("/", "_")}` });
    this.offers.set(uri.path, offer);
    this.changed.fire(uri);
    this.relensed.fire();
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    editor.revealRange(new vscode.Range(0, 0, 0, 0));
    await vscode.languages.setTextDocumentLanguage(document, offer.isDiff ? "tark-offer-diff" : "tark-offer");
    this.updateContext();
  }

  /** Approves the document of the lens or button, or else the one that is shown. A second approval does nothing. */
  async answer(target: unknown, isYes: boolean): Promise<void> {
    const uri = target instanceof vscode.Uri ? target : vscode.window.activeTextEditor?.document.uri;
    const offer = uri?.scheme === OFFER_SCHEME ? this.offers.get(uri.path) : undefined;
    if (uri === undefined || offer?.yes === undefined) {
      return;
    }
    if (!isYes) {
      return this.close(uri);
    }
    const { title, text, isDiff } = offer;
    this.offers.set(uri.path, { title, text, isDiff, isBusy: true });
    this.relensed.fire();
    try {
      await offer.yes[1]();
    } catch (problem) {
      this.offers.set(uri.path, offer); // it can be tried again
      this.relensed.fire();
      throw problem;
    } finally {
      this.updateContext();
    }
    if (this.offers.get(uri.path)?.isBusy === true) {
      await this.close(uri); // nothing else is shown in its place
    }
  }

  dispose(): void {
    this.owned.dispose();
  }

  private async close(uri: vscode.Uri): Promise<void> {
    this.offers.delete(uri.path);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const isIts = ({ input }: vscode.Tab): boolean => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();
    await vscode.window.tabGroups.close(tabs.filter(isIts), true);
  }

  private updateContext(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const isAsked = uri?.scheme === OFFER_SCHEME && this.offers.get(uri.path)?.yes !== undefined;
    void vscode.commands.executeCommand("setContext", "tark.offerAsked", isAsked);
  }
}
