/**
 * What has to be set up before Tark can work: a server and a model. The chat shows it as a card, and prompts that were
 * typed before wait here.
 */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import type { KeyCheck } from "../model/keyCheck";
import type { EffectiveSettings } from "../model/protocol";
import { NoServerError } from "../model/server";
import type { SetupView } from "../model/setup";
import { openDemo } from "../server/demo";
import { providerName } from "../text/providerNames";
import { errorMessage } from "../window/notify";
import { chooseProvider } from "./chooseProvider";
import { askForKey, checkProvider, type KeyParts, storeAndCheck } from "./keys";
import { checkWords, modelOffers, type ProviderStatus, serverView } from "./offers";
import { takesKey } from "./providerRows";
import { useModel } from "./useModel";

const POLL_MS = 2000; // while the user logs in on a web page

const COMMANDS: Readonly<Record<string, string>> = {
  install: "tark.client.install",
  output: "tark.client.showOutput",
  choose: "tark.client.selectModel",
};

export class Setup implements Disposable {
  private providers: readonly ProviderStatus[] = [];
  private isRead = false; // are the providers those of the running server?
  private localModel: string | undefined;
  private said: SetupView["said"];
  private busy: string | undefined;
  private problem: unknown;
  private polling: NodeJS.Timeout | undefined;
  private readonly waiting: { resolve(): void; reject(problem: Error): void }[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly disposables: readonly Disposable[];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly parts: KeyParts,
  ) {
    const { state } = parts.client;
    this.disposables = [
      state.on("server", ({ running }) => {
        if (running) {
          this.problem = undefined;
          this.isRead = false;
        }
        this.changed();
      }),
      state.on("session", () => this.changed()),
    ];
  }

  /** Undefined: everything is set up, or it is not known yet. */
  get view(): SetupView | undefined {
    const { client, secrets } = this.parts;
    if (!client.running && !client.starting && this.problem !== undefined) {
      return serverView(errorMessage(this.problem), this.problem instanceof NoServerError);
    }
    if (this.busy === undefined && !this.needsModel) {
      return undefined;
    }
    return {
      title: "Set up a model",
      words: "Tark works with a model of your choice.",
      isProblem: false,
      ...(this.said && { said: this.said }),
      ...(this.busy !== undefined && { busy: this.busy }),
      offers: modelOffers(this.providers, secrets.storedNames(), this.localModel),
    };
  }

  /** Do prompts wait for the set-up? */
  get hasWaiting(): boolean {
    return this.waiting.length > 0;
  }

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** The user opened the chat. Starts the server. */
  async open(): Promise<void> {
    const { client } = this.parts;
    try {
      await client.ensureRunning();
    } catch (problem) {
      this.problem = problem;
    }
    this.changed();
  }

  /** Resolves when prompts can be sent. Rejects if no server starts, or the user takes the prompt back. */
  async untilReady(): Promise<void> {
    const { client } = this.parts;
    await client.ensureRunning();
    client.state.settings ??= (await client.executeCommand<{ settings: EffectiveSettings }>("tark.state")).settings;
    if (this.needsModel) {
      await new Promise<void>((resolve, reject) => {
        this.waiting.push({ resolve, reject });
        this.changed();
      });
    }
  }

  /** The user chose a row of the card. */
  async choose(offer: string): Promise<void> {
    const [what, provider = ""] = offer.split(":");
    const command = COMMANDS[offer];
    if (command !== undefined) {
      await vscode.commands.executeCommand(command);
    } else if (what === "use") {
      await this.work(`Asking ${providerName(provider)}…`, async () => this.use(provider, await checkProvider(this.parts.client, provider)));
    } else if (what === "paste") {
      await this.pasteKey();
    } else if (what === "start") {
      await this.open();
    } else if (what === "copilot") {
      await vscode.commands.executeCommand("tark.client.login", "copilot");
      this.pollLogin();
    } else if (what === "copilotHelp") {
      await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.joinPath(this.context.extensionUri, "walkthrough", "copilot.md"));
    } else if (what === "demo") {
      await this.work("Preparing the demo…", () => openDemo(this.context, this.parts.client));
    } else if (what === "takeBack") {
      this.waiting.splice(0).forEach(({ reject }) => reject(new Error("no model is set up yet")));
    }
  }

  dispose(): void {
    clearTimeout(this.polling);
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  private get needsModel(): boolean {
    const { state, running } = this.parts.client;
    const session = state.sessions.get(state.sessionId ?? "");
    return running && state.settings !== undefined && !(session?.model ?? state.settings.model);
  }

  private async pasteKey(): Promise<void> {
    const provider = await chooseProvider(this.parts.client, "Provider of the API Key", takesKey);
    const key = provider && (await askForKey(provider));
    if (provider && key) {
      await this.work(`Checking the key with ${providerName(provider.provider)}…`, async () =>
        this.use(provider.provider, await storeAndCheck(this.parts, provider, key)),
      );
    }
  }

  private async use(provider: string, found: KeyCheck): Promise<void> {
    this.said = checkWords(provider, found);
    if (found.result !== "refused" && found.model != null) {
      await useModel(this.parts.client, found.model);
    } else if (found.result !== "refused") {
      await vscode.commands.executeCommand("tark.client.selectModel");
    }
  }

  private async work(busy: string, does: () => Promise<void>): Promise<void> {
    if (this.busy !== undefined) {
      return;
    }
    this.busy = busy;
    this.said = undefined;
    this.changed();
    try {
      await does();
    } finally {
      this.busy = undefined;
      this.isRead = false;
      this.changed();
    }
  }

  private changed(): void {
    if (this.needsModel && !this.isRead && this.busy === undefined) {
      this.isRead = true;
      void this.readProviders().catch(() => undefined);
    } else if (!this.needsModel && this.parts.client.running) {
      this.waiting.splice(0).forEach(({ resolve }) => resolve());
    }
    this.listeners.forEach((listener) => listener());
  }

  private async readProviders(): Promise<void> {
    const { client } = this.parts;
    this.providers = (await client.executeCommand<{ providers: readonly ProviderStatus[] }>("tark.auth.status")).providers;
    this.listeners.forEach((listener) => listener());
    const local = await checkProvider(client, "ollama");
    this.localModel = local.result === "accepted" ? (local.model ?? undefined) : undefined;
    this.listeners.forEach((listener) => listener());
  }

  /** The server says in a message how the login ends. Here, only the card follows it. */
  private pollLogin(): void {
    clearTimeout(this.polling);
    this.polling = setTimeout(() => {
      void this.readProviders()
        .catch(() => undefined)
        .then(() => {
          if (this.needsModel && this.providers.some(({ status }) => status === "pending")) {
            this.pollLogin();
          }
        });
    }, POLL_MS);
  }
}
