/**
 * The list of changes: requests that wait for an answer, then files with their hunks. Its badge counts the requests.
 */

import * as vscode from "vscode";
import type { State } from "../model/state";
import { plainLine } from "../text/surfaces";
import { relativeName } from "../window/files";
import { fileRows, requestRows, type TreeRow } from "./treeRows";

const VIEW = "tark.changes";
const PAUSE_MS = 50;

export class ChangesTree implements vscode.TreeDataProvider<TreeRow>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<TreeRow>;
  private readonly owned: vscode.Disposable;
  private pause: NodeJS.Timeout | undefined;

  constructor(private readonly state: State) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    const soon = (): void => this.refreshSoon();
    const events = (["hunks", "permission", "input"] as const).map((event) => state.on(event, soon));
    this.owned = vscode.Disposable.from(...events, this.view, this.changed);
    this.refreshSoon();
  }

  getChildren(node?: TreeRow): TreeRow[] {
    if (node === undefined) {
      const permissions = this.state.permissions.filter(({ edits }) => !edits?.length); // their hunks are in the list
      return [...requestRows(permissions, this.state.inputs), ...fileRows(this.state.hunks, relativeName)];
    }
    return node.kind === "file" ? [...node.hunks] : [];
  }

  getTreeItem(node: TreeRow): vscode.TreeItem {
    switch (node.kind) {
      case "file":
        return fileItem(node);
      case "hunk":
        return hunkItem(node);
      default:
        return questionItem(node);
    }
  }

  dispose(): void {
    clearTimeout(this.pause);
    this.owned.dispose();
  }

  private refreshSoon(): void {
    this.pause ??= setTimeout(() => {
      this.pause = undefined;
      const waiting = this.state.permissions.length + this.state.inputs.length;
      const changes = [...this.state.hunks.values()].reduce((sum, document) => sum + document.hunks.length, 0);
      const tooltip = waiting === 1 ? "1 request waits for you" : `${String(waiting)} requests wait for you`;
      this.view.badge = waiting > 0 ? { value: waiting, tooltip } : undefined;
      this.view.description = changes > 0 ? String(changes) : "";
      void vscode.commands.executeCommand("setContext", "tark.hunks", changes);
      this.changed.fire();
    }, PAUSE_MS);
  }
}

function fileItem(node: Extract<TreeRow, { kind: "file" }>): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.Uri.parse(node.uri), vscode.TreeItemCollapsibleState.Expanded);
  item.id = node.uri;
  item.label = plainLine(relativeName(node.uri)); // the name alone can be ambiguous
  item.description = node.description;
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = node.hunks.every(({ hunk }) => hunk.applied) ? "documentApplied" : "document";
  return item;
}

const ICONS: Readonly<Record<string, vscode.ThemeIcon>> = {
  conflict: new vscode.ThemeIcon("warning", new vscode.ThemeColor("list.warningForeground")),
  stale: new vscode.ThemeIcon("circle-slash", new vscode.ThemeColor("list.warningForeground")),
};

const SIGNS: Readonly<Record<string, string>> = { remove: "diff-removed", move: "diff-renamed" };

function hunkItem(node: Extract<TreeRow, { kind: "hunk" }>): vscode.TreeItem {
  const { hunk, uri } = node;
  const item = new vscode.TreeItem(node.label);
  item.id = hunk.hunkId;
  const sign = SIGNS[hunk.operation?.kind ?? ""] ?? (hunk.applied ? "diff-modified" : "diff-added");
  item.iconPath = ICONS[hunk.state] ?? new vscode.ThemeIcon(sign);
  item.contextValue = hunk.state !== "pending" ? "hunkConflict" : hunk.applied ? "hunkApplied" : "hunk";
  item.command = { command: "tark.client.openHunk", title: "Open", arguments: [{ uri, hunkId: hunk.hunkId }] };
  return item;
}

function questionItem(node: Extract<TreeRow, { kind: "permission" | "input" }>): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label);
  item.id = node.requestId;
  item.description = node.description;
  item.iconPath = new vscode.ThemeIcon("question", new vscode.ThemeColor("list.warningForeground"));
  item.contextValue = node.kind;
  item.command = { command: `tark.client.${node.kind}`, title: "Answer", arguments: [node.requestId] };
  return item;
}
