/**
 * The language server of this window: found, started, spoken to, and started again when it ends. All that starts or ends
 * it goes through one queue, so that there is never a second one.
 */

import * as vscode from "vscode";
import { say, telling, words } from "../status/notify";
import type { RunningTurns } from "../model/runningTurns";
import type { State } from "../model/state";
import type { Updates } from "../model/updates";
import { Calls } from "./calls";
import { Configuration } from "./configuration";
import type { Found } from "./discovery";
import type { Rim } from "./languageClient";
import type { Ending, ServerProcess } from "./process";
import { Restarts } from "./restart";
import type { Secrets } from "./secrets";
import { find, launch, type Running, spawned, takeOver } from "./launch";
import type { Server } from "./server";
import { refresh } from "./refresh";
import { Trouble } from "./trouble";

export class Client implements Server, vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Tark");
  private readonly trace = vscode.window.createOutputChannel("Tark (trace)");
  private readonly calls = new Calls(
    () => this.current,
    (line) => this.log.appendLine(line),
  );
  private readonly trouble: Trouble;
  private readonly restarts = new Restarts();
  private readonly configuration: Configuration;
  private current: Running | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private beginning: Promise<void> | undefined;
  private restarting = 0;
  /** It has not answered yet. */
  private launching: ServerProcess | undefined;
  /** With what the last start was tried. */
  private tried = "";
  private again: NodeJS.Timeout | undefined;
  private toldSettings = "{}";
  private disposed = false;
  /** The last start failed: files that are opened do not try it again. */
  startFailed = false;
  /** It ended too often. */
  isDown = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly state: State,
    private readonly updates: Updates,
    private readonly turns: RunningTurns,
    secrets: Secrets,
    private readonly rim: Pick<Rim, "permission" | "input" | "progress" | "execute">,
  ) {
    this.trouble = new Trouble(context, this.log, () => this.restart());
    this.configuration = new Configuration(context, secrets, turns, () => this.settingsChanged());
  }

  get running(): boolean {
    return this.current !== undefined;
  }

  get starting(): boolean {
    return !this.running && (this.beginning !== undefined || this.restarting > 0 || this.again !== undefined);
  }

  /** The settings it was told, without those it began with. */
  get told(): string {
    return this.toldSettings;
  }

  /** Where the running server was found; undefined: none runs. */
  get found(): Found | undefined {
    return this.current?.found;
  }

  get processId(): number | undefined {
    return this.current?.process.child.pid;
  }

  get version(): string | undefined {
    return this.current?.client.initializeResult?.serverInfo?.version;
  }

  ensure(): Promise<void> {
    if (this.current !== undefined) {
      return Promise.resolve();
    }
    this.forgetAgain();
    if (this.beginning === undefined) {
      this.beginning = this.next(() => this.start()).finally(() => {
        this.beginning = undefined;
        this.tellStanding();
      });
      this.tellStanding();
    }
    return this.beginning;
  }

  /** The person wants another one, or settings do. */
  async restart(): Promise<void> {
    this.restarts.forget();
    this.restarting += 1;
    try {
      this.launching?.kill(); // it may never answer
      await this.beginning?.catch(() => undefined);
      const former = this.current;
      await this.next(async () => {
        if (this.current === former) {
          this.trouble.cut(await this.stop());
        } // else somebody was faster, and it is new
      });
      await this.ensure();
    } finally {
      this.restarting -= 1;
      this.tellStanding();
    }
  }

  /** It was told of this setting of the person's by a command: it need not be started anew for that. */
  async knows(setting: string): Promise<void> {
    const beginning = await this.configuration.beginning();
    if (this.current !== undefined) {
      takeOver(this.current, beginning, setting);
    }
  }

  async command<T>(name: string, argument: object = {}): Promise<T> {
    await this.ensure();
    return this.calls.command<T>(name, argument);
  }

  request<T>(method: string, params: object): Promise<T> {
    return this.calls.request<T>(method, params);
  }

  notify(method: string, params: object): void {
    this.calls.notify(method, params);
  }

  dispose(): void {
    this.disposed = true;
    this.forgetAgain();
    this.configuration.dispose();
  }

  /** VS Code waits for it when the window closes, and disposes of all else meanwhile: the end is still logged. */
  async deactivate(): Promise<void> {
    this.dispose();
    this.launching?.kill();
    await this.next(() => this.stop()).finally(() => {
      this.log.dispose();
      this.trace.dispose();
    });
  }

  private next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work, work);
    this.queue = done.catch(() => undefined);
    return done;
  }

  private async start(): Promise<void> {
    if (this.current !== undefined || this.disposed) {
      return;
    }
    try {
      const beginning = await this.configuration.beginning();
      this.tried = JSON.stringify(beginning);
      this.launching = await spawned(this.context, await find(this.context, this.trouble), beginning);
      this.begun(await launch(this.launching, beginning, this.whole, this.trouble));
    } catch (problem) {
      this.startFailed = true;
      throw problem;
    } finally {
      this.launching = undefined;
    }
  }

  private begun(running: Running): void {
    this.current = running;
    this.startFailed = false;
    this.isDown = false;
    this.toldSettings = "{}"; // of which there is nothing to tell
    void running.process.ended.then((ending) => this.ended(running, ending));
    this.tellSettings();
    this.state.emit("server", { running: true });
    this.settingsChanged(); // they may be others since it was launched
    void refresh(this, this.updates).catch((problem: unknown) => this.log.appendLine(words(problem)));
  }

  /** How many turns were cut. */
  private async stop(): Promise<number> {
    const of = this.current;
    if (of === undefined) {
      return 0;
    }
    const turns = this.gone();
    await of.client.dispose();
    await of.process.end();
    return turns;
  }

  /** It ended against our will: it is started again, but not for ever. */
  private ended(of: Running, ending: Ending): void {
    if (this.current !== of) {
      return;
    }
    if (this.disposed) {
      this.current = undefined;
      return;
    }
    this.log.appendLine(`ended: ${ending.words}`);
    const delay = this.restarts.ended();
    this.isDown = delay === undefined;
    if (delay !== undefined) {
      this.again = setTimeout(() => void telling(() => this.ensure()), delay);
    }
    const turns = this.gone();
    void of.client.dispose().catch(() => undefined);
    this.trouble.ended(ending.words, turns, !this.isDown);
  }

  private forgetAgain(): void {
    clearTimeout(this.again);
    this.again = undefined;
  }

  private tellStanding(): void {
    if (!this.running) {
      this.state.emit("server", { running: false, starting: this.starting });
    }
  }

  /** Nothing goes on any more. How many turns were cut. */
  private gone(): number {
    this.current = undefined;
    const turns = this.updates.interrupted();
    this.tellStanding();
    return turns;
  }

  private get whole(): Rim {
    return {
      ...this.rim,
      log: this.log,
      trace: this.trace,
      settings: () => this.configuration.others(),
      updated: (params) => this.updates.received(params),
      sessionChanged: (session) => this.updates.session(session),
    };
  }

  private settingsChanged(): void {
    void this.applySettings().catch((problem: unknown) => this.log.appendLine(words(problem)));
  }

  /**
   * A change of one's own settings or keys needs another server; it waits until no turn would be cut by that. Where none
   * could be started, that is tried again.
   */
  private async applySettings(): Promise<void> {
    const of = this.current;
    const wanted = JSON.stringify(await this.configuration.beginning());
    if (of === undefined) {
      const isMended = (this.startFailed || this.isDown || this.launching !== undefined) && this.tried !== wanted;
      await (isMended && telling(() => this.restart()));
      return;
    }
    this.tellSettings();
    if (of.started !== wanted && of === this.current && this.turns.count === 0) {
      await telling(() => this.restart().then(() => say("the server was started anew, with your changed settings")));
    }
  }

  /** Also at the end of each turn: so only where there is something new. */
  private tellSettings(): void {
    const others = JSON.stringify(this.configuration.others());
    if (this.toldSettings !== others) {
      this.toldSettings = others;
      this.notify("workspace/didChangeConfiguration", { settings: { tark: JSON.parse(others) as object } });
    }
  }
}
