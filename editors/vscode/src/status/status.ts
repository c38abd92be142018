/** The status bar item: what Tark is doing, and whether something waits for the user. */

import * as vscode from "vscode";
import { counted, formatMoney, shortNumber } from "../text/figures";
import type { Progress } from "./progress";
import type { RunningTurns } from "../model/runningTurns";
import type { State } from "../model/state";
import { usedSettings } from "../model/usedSettings";
import { plainExcerpt, plainLine, statusBarText } from "../text/surfaces";
import { sentenceCase } from "../text/serverWords";

const REDRAW_MS = 200;
const LONGEST = 30; // characters of the activity; other items need space, too

interface Look {
  readonly text: string;
  readonly description: string;
  readonly command: string;
  readonly isWarning?: boolean;
}

export class StatusItem implements vscode.Disposable {
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
    const scheduleRedraw = (): void => this.scheduleRedraw();
    this.listening = [
      turns.onChange(scheduleRedraw),
      ...(["hunks", "permission", "input", "session"] as const).map((event) => state.on(event, scheduleRedraw)),
      state.on("update", ({ params }) => params.update.kind === "usage" && this.scheduleRedraw()),
      state.on("server", ({ running, starting }) => {
        this.server = running ? "running" : starting === true ? "starting" : "ended";
        this.scheduleRedraw();
      }),
    ];
    this.draw();
    this.item.show();
  }

  /** Redraws soon, but not more often than the user can perceive. */
  scheduleRedraw(): void {
    this.redrawing ??= setTimeout(() => {
      this.redrawing = undefined;
      this.draw();
    }, REDRAW_MS);
  }

  dispose(): void {
    clearTimeout(this.redrawing);
    this.item.dispose();
    for (const listener of this.listening) {
      listener.dispose();
    }
  }

  private draw(): void {
    const look = this.currentLook();
    const waiting = this.state.permissions.length + this.state.inputs.length;
    this.item.text = look.text;
    this.item.command = look.command;
    this.item.tooltip = [look.description, ...this.facts()].map(sentenceCase).join("\n");
    this.item.accessibilityInformation = { label: `Tark: ${look.description}` };
    this.item.backgroundColor = look.isWarning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
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

  private currentLook(): Look {
    const waiting = this.state.permissions.length + this.state.inputs.length;
    const hunks = [...this.state.hunks.values()].reduce((sum, document) => sum + document.hunks.length, 0);
    if (waiting > 0) {
      return { text: `$(bell-dot) Tark: ${waiting}`, description: `${counted(waiting, "request")} waiting for you`, command: "tark.client.waiting", isWarning: true };
    }
    if (this.turns.count > 0) {
      const seconds = Math.round((Date.now() - (this.turns.oldestStart ?? Date.now())) / 1000);
      const activity = plainLine(this.progress.activity);
      const text = `$(sync~spin) Tark${activity && `: ${statusBarText(plainExcerpt(activity, LONGEST))}`}`;
      return { text, description: `working for ${seconds} s${activity && `: ${activity}`}`, command: "tark.client.chat" };
    }
    if (hunks > 0) {
      const says = `${counted(hunks, "change")} to review`;
      return { text: `$(diff) Tark: ${hunks}`, description: says, command: "tark.client.showChanges" };
    }
    if (this.server === "starting") {
      return { text: "$(sync~spin) Tark", description: "the server is starting", command: "tark.client.menu" };
    }
    if (this.server === "ended") {
      return { text: "$(debug-disconnect) Tark", description: "the server is not running", command: "tark.client.menu", isWarning: true };
    }
    const says = this.server === "running" ? "idle" : "the server starts with the first file or command";
    return { text: "$(sparkle) Tark", description: says, command: "tark.client.menu" };
  }

  private facts(): string[] {
    const { sessionId, sessions, settings, transcripts } = this.state;
    const session = sessionId === undefined ? undefined : sessions.get(sessionId);
    const usage = sessionId === undefined ? undefined : transcripts.get(sessionId)?.turns.findLast((turn) => turn.usage)?.usage;
    const used = usedSettings(session ?? settings ?? undefined);
    const rows: [string, string | null | undefined][] = [
      ["session", session?.title],
      ["model", used?.model],
      ["agent", used?.agent],
      ["mode", used?.mode],
      ["approval level", used?.approval],
      ["context", usage?.contextUsed && `${shortNumber(usage.contextUsed)}${usage.contextWindow ? ` of ${shortNumber(usage.contextWindow)}` : ""}`],
      ["cost", session?.costUsd != null ? formatMoney(session.costUsd) : undefined],
    ].map(([name, value]) => [name as string, value == null ? undefined : String(value)]);
    return rows.filter(([, value]) => value).map(([name, value]) => `${name}: ${plainLine(value ?? "")}`);
  }
}
