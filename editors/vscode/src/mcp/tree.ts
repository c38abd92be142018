/** The view of MCP servers and hooks. It requests the list when it becomes visible or something changes. */

import * as vscode from "vscode";
import type { HookList, ServerList } from "../model/mcp";
import type { Server } from "../model/server";
import { reportErrors } from "../window/notify";
import { type Row, rowsOf, waitingCount } from "./rows";

const VIEW = "tark.mcp";
const NO_TRUST = "You do not trust this workspace. So no server starts in it, and what it offers is not read.";

export class McpTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Row>;
  private readonly owned: vscode.Disposable;
  private known: readonly Row[] = [];
  private reading: Promise<void> | undefined;
  private readAgain = false;

  /** `onSwitch`: the user switched a server or a tool. */
  constructor(
    private readonly server: Server,
    onSwitch: (row: Row, isOn: boolean) => Promise<void>,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, manageCheckboxStateManually: true });
    this.owned = vscode.Disposable.from(
      this.view,
      this.changed,
      server.state.on("mcp", () => void this.refresh()),
      server.state.on("server", ({ running }) => !running && this.show([])),
      this.view.onDidChangeVisibility(({ visible }) => visible && void this.refresh()),
      this.view.onDidChangeCheckboxState(({ items }) => items.forEach(([row, state]) => void onSwitch(row, state === vscode.TreeItemCheckboxState.Checked))),
    );
  }

  /** The rows of the current list. */
  get rows(): readonly Row[] {
    return this.known;
  }

  /** Shows the view and focuses it. */
  async reveal(): Promise<void> {
    await this.setShown(true);
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    await this.server.ensureRunning();
    await this.refresh();
  }

  /** Reads the list again. Starts no server. */
  async refresh(): Promise<void> {
    this.readAgain = true;
    this.reading ??= reportErrors(() => this.read()).then(() => {
      this.reading = undefined;
    });
    await this.reading;
  }

  getChildren(row?: Row): Row[] {
    return [...(row === undefined ? this.known : row.rows)];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const isLeaf = row.rows.length === 0;
    const item = new vscode.TreeItem(row.label, isLeaf ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed);
    item.id = row.id;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.accessibilityInformation = { label: `${row.label}, ${row.description}` }; // else screen readers read the tooltip
    item.contextValue = row.context;
    item.iconPath = new vscode.ThemeIcon(row.icon, row.isWarning ? new vscode.ThemeColor("list.warningForeground") : undefined);
    if (row.isOn !== undefined) {
      const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
      const state = row.isOn ? Checked : Unchecked;
      item.checkboxState = { state, tooltip: row.isOn ? "On" : "Off" };
    }
    if (/ (waiting|changed|new) /.test(row.context)) {
      item.command = { command: "tark.client.mcpApprove", title: "Review and Approve", arguments: [row] };
    }
    return item;
  }

  dispose(): void {
    this.owned.dispose();
  }

  private async read(): Promise<void> {
    while (this.readAgain && this.server.running) {
      this.readAgain = false;
      const [servers, hooks] = await Promise.all([
        this.server.executeCommand<ServerList>("tark.mcp.list"),
        this.server.executeCommand<HookList>("tark.hooks.list"),
      ]);
      this.show(rowsOf(servers, hooks));
      this.view.message = servers.trusted ? "" : NO_TRUST;
      await (this.known.length > 0 && this.setShown(true));
    }
  }

  private show(rows: readonly Row[]): void {
    const waiting = waitingCount(rows);
    this.known = rows;
    this.view.description = waiting > 0 ? `${String(waiting)} to look at` : "";
    this.changed.fire();
  }

  private async setShown(isShown: boolean): Promise<void> {
    await vscode.commands.executeCommand("setContext", "tark.mcpShown", isShown);
  }
}
