/**
 * Finds, starts and restarts the language server of this window, and sends it commands. Starts and stops go through one
 * queue, so that two servers never run at the same time.
 */

import * as vscode from "vscode";
import { showInfo, reportErrors, errorMessage } from "../window/notify";
import type { RunningTurns } from "../model/runningTurns";
import type { State } from "../model/state";
import type { Updates } from "../model/updates";
import { Calls } from "./calls";
import { Configuration } from "./configuration";
import type { FoundServer } from "./discovery";
import type { ClientHandlers } from "./languageClient";
import type { ProcessExit, ServerProcess } from "./process";
import { Outage } from "./outage";
import { Restarts } from "./restart";
import type { Secrets } from "./secrets";
import { findServer, startClient, type RunningServer, spawnServer, markOptionApplied } from "./launch";
import type { Server } from "../model/server";
import { refresh } from "./refresh";
import { ServerWarnings } from "./warnings";

export class Client implements Server, vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Tark");
  private readonly trace = vscode.window.createOutputChannel("Tark (trace)");
  private readonly calls = new Calls(
    () => this.current,
    (line) => this.log.appendLine(line),
  );
  private readonly warnings: ServerWarnings;
  private readonly restarts = new Restarts();
  private readonly outage = new Outage((message, isDown) => this.warnings.warnEnded(message, isDown));
  private readonly configuration: Configuration;
  private current: RunningServer | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private startPromise: Promise<void> | undefined;
  private restartsInProgress = 0;
  /** A server that has not answered `initialize` yet. */
  private launching: ServerProcess | undefined;
  /** The configuration of the last attempt to start. */
  private lastTriedConfiguration = "";
  private restartTimer: NodeJS.Timeout | undefined;
  private lastSentSettings = "{}";
  private disposed = false;
  /** The last start failed. Opening a file does not try again. */
  startFailed = false;
  /** The server ended too often, so it is not restarted. */
  isDown = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly state: State,
    private readonly updates: Updates,
    private readonly turns: RunningTurns,
    secrets: Secrets,
    private readonly requestHandlers: Pick<ClientHandlers, "onPermission" | "onInput" | "onProgress" | "onExecute">,
  ) {
    this.warnings = new ServerWarnings(context, this.log, () => this.restart());
    this.configuration = new Configuration(context, secrets, turns, () => this.settingsChanged());
  }

  get running(): boolean {
    return this.current !== undefined;
  }

  get starting(): boolean {
    return !this.running && (this.startPromise !== undefined || this.restartsInProgress > 0 || this.restartTimer !== undefined);
  }

  /** The settings that were sent to the server, as JSON, without those it was started with. */
  get sentSettings(): string {
    return this.lastSentSettings;
  }

  /** Where the running server was found. Undefined if none runs. */
  get foundServer(): FoundServer | undefined {
    return this.current?.found;
  }

  get processId(): number | undefined {
    return this.current?.process.child.pid;
  }

  get version(): string | undefined {
    return this.current?.client.initializeResult?.serverInfo?.version;
  }

  ensureRunning(): Promise<void> {
    if (this.current !== undefined) {
      return Promise.resolve();
    }
    this.cancelRestart();
    if (this.startPromise === undefined) {
      this.startPromise = this.enqueue(() => this.start()).finally(() => {
        this.startPromise = undefined;
        this.emitServerState();
      });
      this.emitServerState();
    }
    return this.startPromise;
  }

  /** Starts another server, because the user or a change of settings asks for it. */
  async restart(): Promise<void> {
    this.restarts.reset();
    this.restartsInProgress += 1;
    try {
      this.launching?.killProcess(); // it might never answer
      await this.startPromise?.catch(() => undefined);
      const former = this.current;
      await this.enqueue(async () => {
        if (this.current === former) {
          this.warnings.warnCutTurns(await this.stopServer());
        } // else it was restarted meanwhile
      });
      await this.ensureRunning();
    } finally {
      this.restartsInProgress -= 1;
      this.emitServerState();
    }
  }

  /** Restarts the server for the command "Restart Server". */
  async restartForUser(): Promise<void> {
    await this.restart();
    void showInfo("the server was restarted");
  }

  /** A command changed this user setting in the running server, so no restart is needed. */
  async markSettingApplied(setting: string): Promise<void> {
    const beginning = await this.configuration.startConfiguration();
    if (this.current !== undefined) {
      markOptionApplied(this.current, beginning, setting);
    }
  }

  async executeCommand<T>(name: string, argument: object = {}, signal?: AbortSignal): Promise<T> {
    await this.ensureRunning();
    return this.calls.executeCommand<T>(name, argument, signal);
  }

  sendRequest<T>(method: string, params: object): Promise<T> {
    return this.calls.sendRequest<T>(method, params);
  }

  sendNotification(method: string, params: object): void {
    this.calls.sendNotification(method, params);
  }

  dispose(): void {
    this.disposed = true;
    this.cancelRestart();
    this.configuration.dispose();
  }

  /**
   * VS Code waits for this when the window closes. Meanwhile it disposes of everything else; the end is still logged.
   */
  async deactivate(): Promise<void> {
    this.dispose();
    this.launching?.killProcess();
    await this.enqueue(() => this.stopServer()).finally(() => {
      this.log.dispose();
      this.trace.dispose();
    });
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work, work);
    this.queue = done.catch(() => undefined);
    return done;
  }

  private async start(): Promise<void> {
    if (this.current !== undefined || this.disposed) {
      return;
    }
    try {
      const beginning = await this.configuration.startConfiguration();
      this.lastTriedConfiguration = JSON.stringify(beginning);
      this.launching = await spawnServer(this.context, await findServer(this.context, this.warnings), beginning);
      this.serverStarted(await startClient(this.launching, beginning, this.allHandlers, this.warnings));
    } catch (problem) {
      this.startFailed = true;
      throw this.outage.startFailed(problem, errorMessage(problem));
    } finally {
      this.launching = undefined;
    }
  }

  private serverStarted(running: RunningServer): void {
    this.current = running;
    this.startFailed = false;
    this.isDown = false;
    this.lastSentSettings = "{}"; // an empty object is not sent
    void running.process.ended.then((exit) => this.serverEnded(running, exit));
    this.sendSettings();
    this.state.emit("server", { running: true });
    this.settingsChanged(); // they can have changed since the launch
    const log = (problem: unknown): void => this.log.appendLine(errorMessage(problem));
    void refresh(this.calls, this.updates, log).then((lives) => lives && this.current === running && this.outage.serverRuns());
  }

  /** Returns how many turns were interrupted. */
  private async stopServer(): Promise<number> {
    const server = this.current;
    if (server === undefined) {
      return 0;
    }
    const turns = this.markGone();
    await server.client.dispose();
    await server.process.endProcess();
    return turns;
  }

  /** The server ended unexpectedly. It is restarted a few times, then stays down. */
  private serverEnded(server: RunningServer, exit: ProcessExit): void {
    if (this.current !== server) {
      return;
    }
    if (this.disposed) {
      this.current = undefined;
      return;
    }
    this.log.appendLine(`ended: ${exit.description}`);
    const delay = this.restarts.nextDelay();
    this.isDown = delay === undefined;
    if (delay !== undefined) {
      this.restartTimer = setTimeout(() => void reportErrors(() => this.ensureRunning()), delay);
    }
    this.outage.serverEnded(exit.description, this.markGone());
    void server.client.dispose().catch(() => undefined);
    if (this.isDown) {
      this.outage.staysDown();
    }
  }

  private cancelRestart(): void {
    clearTimeout(this.restartTimer);
    this.restartTimer = undefined;
  }

  private emitServerState(): void {
    if (!this.running) {
      this.state.emit("server", { running: false, starting: this.starting });
    }
  }

  /** Records that no server runs. Returns how many turns were interrupted. */
  private markGone(): number {
    this.current = undefined;
    const turns = this.updates.interruptAll();
    this.emitServerState();
    return turns;
  }

  private get allHandlers(): ClientHandlers {
    return {
      ...this.requestHandlers,
      log: this.log,
      trace: this.trace,
      settings: () => this.configuration.liveSettings(),
      onUpdate: (params) => this.updates.applyUpdate(params),
      onSession: (session) => this.updates.updateSession(session),
      onMcp: (change) => this.state.emit("mcp", change),
    };
  }

  private settingsChanged(): void {
    void this.applySettings().catch((problem: unknown) => this.log.appendLine(errorMessage(problem)));
  }

  /**
   * A change of user settings or keys needs a restart, which waits until no turn runs. If no server could be started, this
   * tries again.
   */
  private async applySettings(): Promise<void> {
    const server = this.current;
    const wanted = JSON.stringify(await this.configuration.startConfiguration());
    if (server === undefined) {
      const canRetry = (this.startFailed || this.isDown || this.launching !== undefined) && this.lastTriedConfiguration !== wanted;
      await (canRetry && reportErrors(() => this.restart()));
      return;
    }
    this.sendSettings();
    if (server.startedWith !== wanted && server === this.current && this.turns.count === 0) {
      await reportErrors(() => this.restart().then(() => this.warnings.tellRestart(server.startedWith, wanted)));
    }
  }

  /** Also called at the end of each turn, so it sends only changes. */
  private sendSettings(): void {
    const others = JSON.stringify(this.configuration.liveSettings());
    if (this.lastSentSettings !== others) {
      this.lastSentSettings = others;
      this.sendNotification("workspace/didChangeConfiguration", { settings: { tark: JSON.parse(others) as object } });
    }
  }
}
