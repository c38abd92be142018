/** What the user does with MCP servers and hooks: add, approve, switch, restart, show the log, remove. */

import * as vscode from "vscode";
import type { OfferKind, ShownOffer, ShownTools, Unanswered } from "../model/mcp";
import type { Server } from "../model/server";
import { listRow, plainLine } from "../text/surfaces";
import { confirm, errorMessage, reportErrors, showInfo, showResult } from "../window/notify";
import { Offers } from "./offers";
import { newsText, type Row } from "./rows";
import { McpTree } from "./tree";

const VIEW = "tark.mcp";
const SETTING = "mcp.servers";
const WHERE = [
  { label: "In the Sandbox, without Network", description: "it reads the workspace, and writes nothing", sandbox: true, network: false },
  { label: "In the Sandbox, with Network", description: "for services, and for npx and uvx", sandbox: true, network: true },
  { label: "Without a Sandbox", description: "it can read and write everything that you can", sandbox: false, network: false },
];

export class McpServers implements vscode.Disposable {
  private readonly offers = new Offers();
  private readonly tree: McpTree;
  private readonly listening: { dispose(): void };

  constructor(private readonly server: Server) {
    this.tree = new McpTree(server, (row, isOn) => this.switchRow(row, isOn));
    this.listening = server.state.on("mcp", ({ unanswered }) => unanswered.length > 0 && void this.tell(unanswered));
  }

  show(): Promise<void> {
    return this.tree.reveal();
  }

  /**
   * Adds a server to config.toml, then shows it for approval. `refused` and `reason`: what you typed before, and why it
   * was refused. You can correct it.
   */
  async add(refused = "", reason = ""): Promise<void> {
    const run = await vscode.window.showInputBox({
      title: "Add MCP Server",
      prompt: reason === "" ? "Its command line, or its URL" : `Refused: ${reason}`,
      placeHolder: "npx -y @modelcontextprotocol/server-memory",
      value: refused,
      ignoreFocusOut: true,
    });
    if (run === undefined || run.trim() === "") {
      return;
    }
    const isUrl = /^\s*https?:\/\//.test(run);
    const where = isUrl ? undefined : await vscode.window.showQuickPick(WHERE, { title: "Where Does It Run?", ignoreFocusOut: true });
    if (!isUrl && where === undefined) {
      return;
    }
    const program = { run, ...(where && { sandbox: where.sandbox, network: where.network }) };
    let name: string;
    try {
      ({ name } = await this.server.executeCommand<{ name: string }>("tark.mcp.add", program));
    } catch (failure) {
      return this.add(run, plainLine(errorMessage(failure)));
    }
    await this.tree.reveal();
    await this.approve("server", name);
  }

  async approveRow(target: unknown): Promise<void> {
    const row = await this.rowOf(target, "Review and Approve", /^ (server|hook) (?!off)/);
    if (row !== undefined) {
      await this.approve(row.kind === "hook" ? "hook" : "server", row.name);
    }
  }

  answer(target: unknown, isYes: boolean): Promise<void> {
    return this.offers.answer(target, isYes);
  }

  async restart(target: unknown): Promise<void> {
    const row = await this.rowOf(target, "Restart", /^ server /);
    await (row && this.work(this.server.executeCommand("tark.mcp.restart", { name: row.name })));
  }

  async showLog(target: unknown): Promise<void> {
    const row = await this.rowOf(target, "Show Log", /^ server /);
    if (row !== undefined) {
      const { text } = await this.server.executeCommand<{ text: string }>("tark.mcp.log", { name: row.name });
      await this.offers.show({ title: `Log of ${row.name}`, text, isDiff: false });
    }
  }

  /** Removes the approval, and the configuration if it is the user's own. */
  async remove(target: unknown): Promise<void> {
    const row = await this.rowOf(target, "Remove", /^ (server|hook) /);
    if (row === undefined) {
      return;
    }
    const isOffer = row.context.includes(" project ");
    const question = isOffer ? `Forget your approval of ${row.name}?` : `Remove ${row.name}, and your approval of it?`;
    if (!(await confirm(question, isOffer ? "Forget" : "Remove"))) {
      return;
    }
    const command = row.kind === "hook" ? "tark.hooks.remove" : "tark.mcp.remove";
    await this.work(this.server.executeCommand(command, { name: row.name }));
    if (row.kind === "server" && row.context.includes(" editor ")) {
      await this.removeSetting(row.name);
    }
    await this.tree.refresh();
  }

  dispose(): void {
    this.listening.dispose();
    this.tree.dispose();
    this.offers.dispose();
  }

  /** Shows a custom agent of the project, and calls `then` after it is approved. */
  async approveAgent(name: string, then: () => Promise<void>): Promise<void> {
    const { text, isDiff, digest } = await this.server.executeCommand<ShownOffer>("tark.agents.show", { name });
    const yes = async (): Promise<void> => {
      await this.server.executeCommand("tark.agents.approve", { name, digest });
      await then();
      showResult(`approved: ${name}`);
    };
    await this.offers.show({ title: `Agent ${name}`, text, isDiff, yes: ["Approve This Agent", yes] });
  }

  private async approve(kind: OfferKind, name: string): Promise<void> {
    const title = `${kind === "server" ? "MCP server" : "Hook"} ${name}`;
    const shown = await this.server.executeCommand<ShownOffer>(`tark.${kind === "server" ? "mcp" : "hooks"}.show`, { name });
    const offer = { title, text: shown.text, isDiff: shown.isDiff };
    if (kind === "hook") {
      const yes = (): Promise<void> => this.store("tark.hooks.approve", name, shown.digest);
      await this.offers.show(shown.approved ? offer : { ...offer, yes: ["Approve This Hook", yes] });
    } else if (shown.approved) {
      await this.inspect(name, title, shown);
    } else {
      await this.offers.show({ ...offer, yes: ["Start It, to See Its Tools", () => this.inspect(name, title, shown)] });
    }
  }

  private async inspect(name: string, title: string, { text, digest }: ShownOffer): Promise<void> {
    const listed = await this.work(this.server.executeCommand<ShownTools>("tark.mcp.inspect", { name, digest })).catch((problem: unknown) =>
      this.showFailure(name, title, text, problem),
    );
    if (listed === undefined) {
      return;
    }
    const offer = { title, text: `${text}\n${listed.text}`, isDiff: listed.isDiff };
    const label = listed.isDiff ? "Approve These Changes" : `Approve ${listed.tools === 1 ? "This Tool" : `These ${String(listed.tools)} Tools`}`;
    const yes = (): Promise<void> => this.store("tark.mcp.approve", name, listed.digest);
    await this.offers.show(listed.differs ? { ...offer, yes: [label, yes] } : offer);
  }

  /** Shows why the server failed, what it wrote, and a way to try again. */
  private async showFailure(name: string, title: string, text: string, problem: unknown): Promise<undefined> {
    const log = await this.server.executeCommand<{ text: string }>("tark.mcp.log", { name });
    const whole = `${text}\n${errorMessage(problem)}\n\n${log.text}\n`;
    await this.offers.show({ title, text: whole, isDiff: false, yes: ["Start It Again", () => this.approve("server", name)] });
  }

  private async store(command: string, name: string, digest: string): Promise<void> {
    await this.work(this.server.executeCommand(command, { name, digest }));
    showResult(`approved: ${name}`);
    await this.tree.refresh();
  }

  private async switchRow(row: Row, isOn: boolean): Promise<void> {
    const what = { name: row.name, on: isOn, ...(row.tool !== undefined && { tool: row.tool }) };
    await reportErrors(() => this.server.executeCommand("tark.mcp.switch", what));
    await this.tree.refresh();
  }

  /** One notification, which hides by itself. */
  private async tell(unanswered: readonly Unanswered[]): Promise<void> {
    const chosen = await showInfo(newsText(unanswered), "Show");
    if (chosen === undefined) {
      return;
    }
    const [only, ...others] = unanswered;
    await reportErrors(async () => {
      await this.tree.reveal();
      await (only !== undefined && others.length === 0 && this.approve(only.kind, only.name));
    });
  }

  /** The row of the menu, else a row that the user selects. */
  private async rowOf(target: unknown, title: string, wanted: RegExp): Promise<Row | undefined> {
    const given = target as Row | undefined;
    if (given?.name !== undefined) {
      return given;
    }
    await this.tree.reveal();
    const rows = this.tree.rows.filter(({ context }) => wanted.test(context));
    if (rows.length === 0) {
      void showInfo("there is no such MCP server or hook here");
      return undefined;
    }
    const items = rows.map((row) => ({ label: listRow(row.label), description: listRow(row.description), row }));
    return (await vscode.window.showQuickPick(items, { title: plainLine(title) }))?.row;
  }

  private async removeSetting(name: string): Promise<void> {
    const settings = vscode.workspace.getConfiguration("tark");
    const { [name]: _, ...others } = settings.inspect<Record<string, unknown>>(SETTING)?.globalValue ?? {};
    await settings.update(SETTING, Object.keys(others).length > 0 ? others : undefined, vscode.ConfigurationTarget.Global);
  }

  /** Shows progress in the view. */
  private work<T>(running: Promise<T>): Promise<T> {
    return Promise.resolve(vscode.window.withProgress({ location: { viewId: VIEW } }, () => running));
  }
}
