/** Logging in to a provider by a code on a page, and out; and keys, which VS Code keeps and the server gets in its environment. */

import * as vscode from "vscode";
import { row } from "../text/figures";
import { say, warn } from "../status/notify";
import type { Optional } from "../model/protocol";
import type { Secrets } from "../server/secrets";
import type { Server } from "../server/server";
import { line } from "../text/visible";

interface Provider {
  readonly provider: string;
  readonly status: string;
  readonly source?: Optional<string>;
  readonly hint?: Optional<string>;
  /** Of the environment: the first that is set gives the key. */
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

/** A code that is typed on a page; where the provider takes a key instead, that is asked for. */
export async function logIn(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await choose(server, "Log in to");
  if (chosen === undefined) {
    return;
  }
  const login = await server.command<Login>("tark.auth.login", { provider: chosen.provider });
  if (login.userCode && login.verificationUri) {
    await show(login.provider, login.userCode, login.verificationUri, login.expiresIn);
  } else {
    await askForKey(secrets, chosen);
  }
}

/** What the server has stored of a login, or of a key, goes; a key that VS Code keeps is told of. */
export async function logOut(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await choose(server, "Log out of", ({ status }) => status === "ready" || status === "pending" || status === "unusable");
  if (chosen === undefined) {
    return;
  }
  const { provider, variables = [] } = chosen;
  const { deleted, hint } = await server.command<LoggedOut>("tark.auth.logout", { provider });
  const told = deleted.length > 0 ? `logged out of ${provider}: deleted from ${deleted.join(" and ")}` : `no login of ${provider} was stored`;
  const isOurs = variables.some((each) => secrets.names().includes(each));
  const left = isOurs ? '; VS Code keeps a key of it: "Tark: Set an API Key" removes that' : hint ? `; ${hint}` : "";
  void (left === "" ? say : warn)(told + left);
}

export async function setKey(server: Server, secrets: Secrets): Promise<void> {
  const chosen = await choose(server, "API key of");
  if (chosen !== undefined) {
    await askForKey(secrets, chosen);
  }
}

async function choose(
  server: Server,
  title: string,
  fits: (provider: Provider) => boolean = () => true,
): Promise<Provider | undefined> {
  await server.ensure();
  const listing = server.command<{ providers: readonly Provider[] }>("tark.auth.status").then(({ providers }) => {
    const fitting = providers.filter(fits);
    if (fitting.length === 0) {
      throw new Error("there is none with a login or a key");
    }
    return fitting.map((each) => ({
      label: line(each.provider),
      description: line(row(each.status, each.source)),
      ...(each.hint && { detail: line(each.hint) }),
      each,
    }));
  });
  return (await vscode.window.showQuickPick(listing, { title }))?.each;
}

/** The server tells by itself how the login ended. Its page is opened where nobody on the way can be another one. */
async function show(provider: string, code: string, page: string, seconds: Optional<number>): Promise<void> {
  const isSafe = /^https:\/\//i.test(page);
  const good = seconds == null ? "" : ` (good for ${Math.round(seconds / 60)} minutes)`;
  const button = isSafe ? "Copy the Code and Open the Page" : "Copy the Code";
  if (await say(`to log in to ${provider}, type ${code} on ${page}${good}`, button)) {
    await vscode.env.clipboard.writeText(code);
    await (isSafe && vscode.env.openExternal(vscode.Uri.parse(page, true)));
  }
}

async function askForKey(secrets: Secrets, { provider, variables }: Provider): Promise<void> {
  const variable = variables?.[0];
  if (variable === undefined) {
    throw new Error(`name a variable for the key of ${provider} first: apiKeyEnv in the setting tark.providers`);
  }
  const known = secrets.names().includes(variable);
  const wanted = known ? await anotherOrNone(provider) : "another";
  if (wanted === "none") {
    await secrets.remove(variable);
    void say(`the key of ${provider} is removed`);
  }
  if (wanted !== "another") {
    return;
  }
  const key = await vscode.window.showInputBox({
    title: `API key of ${provider}`,
    prompt: `VS Code keeps it, and hands it to the server as ${variable}.`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (typed) => (/[\s\p{Cc}]/u.test(typed.trim()) ? "a key has no spaces" : undefined),
  });
  if (key?.trim()) {
    await secrets.store(variable, key.trim());
    void say(`the key of ${provider} is kept`);
  }
}

/** Nobody can bring it back, so it is a row of its own, and the second one. */
async function anotherOrNone(provider: string): Promise<"another" | "none" | undefined> {
  const rows = [
    { label: "Set Another Key", wanted: "another" },
    { label: "Remove the Key", wanted: "none" },
  ] as const;
  return (await vscode.window.showQuickPick(rows, { title: `API key of ${provider}: one is kept` }))?.wanted;
}
