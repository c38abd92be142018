/**
 * Logs in to and out of providers, and stores API keys. VS Code keeps the keys; the server gets them in its
 * environment.
 */

import * as vscode from "vscode";
import { providerName } from "../text/providerNames";
import { reportErrors, showInfo, showWarning } from "../window/notify";
import type { Optional } from "../model/protocol";
import { chooseProvider } from "../setup/chooseProvider";
import { askForKey, type KeyParts, storeAndCheck } from "../setup/keys";
import type { KeyCheck } from "../model/keyCheck";
import { keyMessage, type ProviderStatus, TRY_AGAIN } from "../setup/offers";
import { takesKey } from "../setup/providerRows";
import type { Secrets } from "../server/secrets";
import type { Server } from "../model/server";
import { plainLine } from "../text/surfaces";
import { afterPrefix } from "../text/serverWords";

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

/**
 * Logs in with a code that the user types on a web page. If the provider uses an API key instead, asks for the key.
 * `provider`: the name of a provider; if unset, the user chooses.
 */
export async function logIn(parts: KeyParts, provider?: unknown): Promise<void> {
  const chosen = await chosenProvider(parts.client, "Log In to a Provider", provider);
  if (chosen === undefined) {
    return;
  }
  const login = await parts.client.executeCommand<Login>("tark.auth.login", { provider: chosen.provider });
  if (login.userCode && login.verificationUri) {
    await show(login.provider, login.userCode, login.verificationUri, login.expiresIn);
  } else {
    await changeKey(parts, chosen);
  }
}

/** Deletes a login or key that the server has stored. Warns if VS Code keeps a key of the provider. */
export async function logOut(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await chooseProvider(server, "Log Out of a Provider", ({ status }) => status === "ready" || status === "pending" || status === "unusable");
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

/**
 * Sets an API key, or logs in to a provider that has a login. `provider`: the name of a provider; if unset, the user
 * chooses. Resolves with what became of the key. Undefined: no key was entered.
 */
export async function setKey(parts: KeyParts, provider?: unknown): Promise<KeyCheck["result"] | undefined> {
  const chosen = await chosenProvider(parts.client, "Set API Key", provider);
  if (chosen?.login === true && typeof provider === "string") {
    await logIn(parts, provider);
    return undefined;
  }
  return chosen && changeKey(parts, chosen);
}

async function chosenProvider(server: Server, title: string, provider: unknown): Promise<ProviderStatus | undefined> {
  return typeof provider === "string" ? server.executeCommand<ProviderStatus>("tark.auth.status", { provider }) : chooseProvider(server, title, takesKey);
}

/** The server reports the result of the login itself. The page is opened only over https, so that it cannot be replaced. */
async function show(provider: string, code: string, page: string, seconds: Optional<number>): Promise<void> {
  const isSafe = /^https:\/\//i.test(page);
  const good = seconds == null ? "" : ` (valid for ${Math.round(seconds / 60)} minutes)`;
  const button = isSafe ? "Copy Code and Open Page" : "Copy Code";
  if (await showInfo(`to log in to ${provider}, enter ${code} on ${page}${good}`, button)) {
    await vscode.env.clipboard.writeText(code);
    await (isSafe && vscode.env.openExternal(vscode.Uri.parse(page, true)));
  }
}

async function changeKey(parts: KeyParts, status: ProviderStatus): Promise<KeyCheck["result"] | undefined> {
  const { provider, variables } = status;
  const variable = variables?.find((name) => parts.secrets.storedNames().includes(name));
  const wanted = variable === undefined ? "another" : await anotherOrNone(provider);
  if (wanted === "none" && variable !== undefined) {
    await parts.secrets.removeKey(variable);
    void showInfo(`the API key of ${providerName(provider)} was removed`);
  }
  return wanted === "another" ? enterKey(parts, status) : undefined;
}

async function enterKey(parts: KeyParts, status: ProviderStatus): Promise<KeyCheck["result"] | undefined> {
  const key = await askForKey(status);
  if (key === undefined) {
    return undefined;
  }
  const check = await storeAndCheck(parts, status, key);
  void reportErrors(() => tell(parts, status, check));
  return check.result;
}

/** The server's message about a refused key goes to the log, because a notification shows only one line. */
async function tell(parts: KeyParts, status: ProviderStatus, check: KeyCheck): Promise<void> {
  const { words, isProblem, buttons } = keyMessage(status.provider, check);
  if (check.result === "refused") {
    parts.client.log.appendLine(`${words} ${check.message}`);
  }
  const choice = await (isProblem ? showWarning : showInfo)(afterPrefix(words), ...buttons);
  if (choice === TRY_AGAIN) {
    await enterKey(parts, status);
  }
}

/** A removed key cannot be restored, so that is the second row. */
async function anotherOrNone(provider: string): Promise<"another" | "none" | undefined> {
  const rows = [
    { label: "Replace Key", wanted: "another" },
    { label: "Remove Key", wanted: "none" },
  ] as const;
  return (await vscode.window.showQuickPick(rows, { title: plainLine(`API Key of ${providerName(provider)}: one is stored`) }))?.wanted;
}
