/** The item in the status bar: which model and mode, what goes on, and whether something waits for the person. */

import * as vscode from "vscode";
import { money, short } from "../text/figures";
import type { Progress } from "./progress";
import type { RunningTurns } from "../model/runningTurns";
import type { State } from "../model/state";
import { line } from "../text/visible";

const REDRAW_MS = 200;
const LONGEST = 30; // of what goes on: others want room, too

interface Look {
  readonly text: string;
  readonly says: string;
  readonly command: string;
  readonly warns?: boolean;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("tark.status", vscode.StatusBarAlignment.Right, 100);
  private readonly listening: readonly { dispose(): void }[];
  private readonly contexts = new Map<string, boolean | number>();
  private redrawing: NodeJS.Timeout | undefined;
  private server: "none" | "starting" | "running" | "ended" = "none";

  constructor(
    private readonly state: State,
    private readonly turns: RunningTurns,
    private readonly progress: Progress,
  ) {
    this.item.name = "Tark";
    const changed = (): void => this.changed();
    this.listening = [
      turns.onChange(changed),
      ...(["hunks", "permission", "input", "session"] as const).map((event) => state.on(event, changed)),
      state.on("update", ({ params }) => params.update.kind === "usage" && this.changed()),
      state.on("server", ({ running, starting }) => {
        this.server = running ? "running" : starting === true ? "starting" : "ended";
        this.changed();
      }),
    ];
    this.draw();
    this.item.show();
  }

  /** Drawn soon, and not more often than one can see. */
  changed(): void {
    this.redrawing ??= setTimeout(() => {
      this.redrawing = undefined;
      this.draw();
    }, REDRAW_MS);
  }

  dispose(): void {
    clearTimeout(this.redrawing);
    this.item.dispose();
    for (const each of this.listening) {
      each.dispose();
    }
  }

  private draw(): void {
    const look = this.look();
    const waiting = this.state.permissions.length + this.state.inputs.length;
    this.item.text = look.text;
    this.item.command = look.command;
    this.item.tooltip = [look.says, ...this.facts()].join("\n");
    this.item.accessibilityInformation = { label: `Tark: ${look.says}` };
    this.item.backgroundColor = look.warns ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.setContext("tark.running", this.turns.count > 0);
    this.setContext("tark.waiting", waiting);
    this.setContext("tark.serverRunning", this.server === "running");
  }

  /** For the `when` clauses of package.json. */
  private setContext(name: string, value: boolean | number): void {
    if (this.contexts.get(name) !== value) {
      this.contexts.set(name, value);
      void vscode.commands.executeCommand("setContext", name, value);
    }
  }

  private look(): Look {
    const waiting = this.state.permissions.length + this.state.inputs.length;
    const hunks = [...this.state.hunks.values()].reduce((sum, document) => sum + document.hunks.length, 0);
    if (waiting > 0) {
      return { text: `$(bell-dot) Tark: ${waiting}`, says: `${waiting} waiting for you`, command: "tark.client.waiting", warns: true };
    }
    if (this.turns.count > 0) {
      const seconds = Math.round((Date.now() - (this.turns.began ?? Date.now())) / 1000);
      const activity = line(this.progress.activity);
      const text = `$(sync~spin) Tark${activity && `: ${activity.length > LONGEST ? `${activity.slice(0, LONGEST - 1)}…` : activity}`}`;
      return { text, says: `working for ${seconds} s${activity && `: ${activity}`}`, command: "tark.client.chat" };
    }
    if (hunks > 0) {
      const says = `${hunks} hunk${hunks === 1 ? "" : "s"} to decide on`;
      return { text: `$(diff) Tark: ${hunks}`, says, command: "tark.client.showChanges" };
    }
    if (this.server === "starting") {
      return { text: "$(sync~spin) Tark", says: "the server starts", command: "tark.client.menu" };
    }
    if (this.server === "ended") {
      return { text: "$(debug-disconnect) Tark", says: "no server runs", command: "tark.client.menu", warns: true };
    }
    const says = this.server === "running" ? "idle" : "the server starts with the first file or command";
    return { text: "$(sparkle) Tark", says, command: "tark.client.menu" };
  }

  private facts(): string[] {
    const { sessionId, sessions, settings, transcripts } = this.state;
    const session = sessionId === undefined ? undefined : sessions.get(sessionId);
    const usage = sessionId === undefined ? undefined : transcripts.get(sessionId)?.turns.findLast((turn) => turn.usage)?.usage;
    const rows: [string, string | null | undefined][] = [
      ["session", session?.title],
      ["model", (session ?? settings)?.model],
      ["mode", (session ?? settings)?.mode],
      ["approval level", (session ?? settings)?.approval],
      ["context", usage?.contextUsed && `${short(usage.contextUsed)}${usage.contextWindow ? ` of ${short(usage.contextWindow)}` : ""}`],
      ["cost", session?.costUsd != null ? money(session.costUsd) : undefined],
    ].map(([name, value]) => [name as string, value == null ? undefined : String(value)]);
    return rows.filter(([, value]) => value).map(([name, value]) => `${name}: ${line(value ?? "")}`);
  }
}
