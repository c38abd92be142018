/**
 * Logs in to and out of providers, and stores API keys. VS Code keeps the keys; the server gets them in its
 * environment.
 */

import * as vscode from "vscode";
import { joinParts } from "../text/figures";
import { showInfo, showWarning } from "../window/notify";
import type { Optional } from "../model/protocol";
import type { Secrets } from "../server/secrets";
import type { Server } from "../model/server";
import { inputPrompt, listRow, plainLine } from "../text/surfaces";

interface Provider {
  readonly provider: string;
  readonly status: string;
  readonly source?: Optional<string>;
  readonly hint?: Optional<string>;
  /** Environment variables: the first one that is set has the key. */
  readonly variables?: readonly string[];
}

interface Login {
  readonly provider: string;
  readonly userCode?: Optional<string>;
  readonly verificationUri?: Optional<string>;
  /** Seconds. */
  readonly expiresIn?: Optional<number>;
}

interface LoggedOut {
  readonly deleted: readonly string[];
  readonly hint?: Optional<string>;
}

/** Logs in with a code that the user types on a web page. If the provider uses an API key instead, asks for it. */
export async function logIn(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await choose(server, "Log In to a Provider");
  if (chosen === undefined) {
    return;
  }
  const login = await server.executeCommand<Login>("tark.auth.login", { provider: chosen.provider });
  if (login.userCode && login.verificationUri) {
    await show(login.provider, login.userCode, login.verificationUri, login.expiresIn);
  } else {
    await askForKey(secrets, chosen);
  }
}

/** Deletes a login or key that the server has stored. Warns if VS Code keeps a key of the provider. */
export async function logOut(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await choose(server, "Log Out of a Provider", ({ status }) => status === "ready" || status === "pending" || status === "unusable");
  if (chosen === undefined) {
    return;
  }
  const { provider, variables = [] } = chosen;
  const { deleted, hint } = await server.executeCommand<LoggedOut>("tark.auth.logout", { provider });
  const result = deleted.length > 0 ? `logged out of ${provider}: deleted from ${deleted.join(" and ")}` : `no login of ${provider} was stored`;
  const isOurs = variables.some((variable) => secrets.storedNames().includes(variable));
  const left = isOurs ? '; VS Code still keeps an API key of it: "Tark: Set API Key" can remove it' : hint ? `; ${hint}` : "";
  void (left === "" ? showInfo : showWarning)(result + left);
}

export async function setKey(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await choose(server, "Set API Key");
  if (chosen !== undefined) {
    await askForKey(secrets, chosen);
  }
}

async function choose(
  server: Server,
  title: string,
  fits: (provider: Provider) => boolean = () => true,
): Promise<Provider | undefined> {
  await server.ensureRunning();
  const listing = server.executeCommand<{ providers: readonly Provider[] }>("tark.auth.status").then(({ providers }) => {
    const fitting = providers.filter(fits);
    if (fitting.length === 0) {
      throw new Error("no provider has a login or a key");
    }
    return fitting.map((provider) => ({
      label: listRow(provider.provider),
      description: listRow(joinParts(provider.status, provider.source)),
      ...(provider.hint && { detail: listRow(provider.hint) }),
      provider,
    }));
  });
  return (await vscode.window.showQuickPick(listing, { title }))?.provider;
}

/** The server reports the result of the login itself. The page is opened only over https, which nobody can replace. */
async function show(provider: string, code: string, page: string, seconds: Optional<number>): Promise<void> {
  const isSafe = /^https:\/\//i.test(page);
  const good = seconds == null ? "" : ` (valid for ${Math.round(seconds / 60)} minutes)`;
  const button = isSafe ? "Copy Code and Open Page" : "Copy Code";
  if (await showInfo(`to log in to ${provider}, enter ${code} on ${page}${good}`, button)) {
    await vscode.env.clipboard.writeText(code);
    await (isSafe && vscode.env.openExternal(vscode.Uri.parse(page, true)));
  }
}

async function askForKey(secrets: Secrets, { provider, variables }: Provider): Promise<void> {
  const variable = variables?.[0];
  if (variable === undefined) {
    throw new Error(`first set apiKeyEnv of ${provider} in the setting tark.providers: the environment variable for its key`);
  }
  const known = secrets.storedNames().includes(variable);
  const wanted = known ? await anotherOrNone(provider) : "another";
  if (wanted === "none") {
    await secrets.removeKey(variable);
    void showInfo(`the API key of ${provider} was removed`);
  }
  if (wanted !== "another") {
    return;
  }
  const key = await vscode.window.showInputBox({
    title: plainLine(`API Key of ${provider}`),
    prompt: inputPrompt(`VS Code stores it and passes it to the server as ${variable}.`),
    password: true,
    ignoreFocusOut: true,
    validateInput: (typed) => (/[\s\p{Cc}]/u.test(typed.trim()) ? "A key cannot contain spaces" : undefined),
  });
  if (key?.trim()) {
    await secrets.storeKey(variable, key.trim());
    void showInfo(`the API key of ${provider} was stored`);
  }
}

/** A removed key cannot be restored, so that is the second row. */
async function anotherOrNone(provider: string): Promise<"another" | "none" | undefined> {
  const rows = [
    { label: "Replace Key", wanted: "another" },
    { label: "Remove Key", wanted: "none" },
  ] as const;
  return (await vscode.window.showQuickPick(rows, { title: plainLine(`API Key of ${provider}: one is stored`) }))?.wanted;
}
