/** Logging in to a provider by a code on a page, and keys, which VS Code keeps and the server gets in its environment. */

import * as vscode from "vscode";
import { row } from "../figures";
import { say } from "../notify";
import type { Optional } from "../protocol";
import { type Secrets, variableOf } from "../server/secrets";
import type { Server } from "../server/server";
import { line } from "../visible";

interface Provider {
  readonly provider: string;
  readonly status: string;
  readonly source?: Optional<string>;
  readonly hint?: Optional<string>;
}

interface Login {
  readonly provider: string;
  readonly userCode?: Optional<string>;
  readonly verificationUri?: Optional<string>;
}

/** A code that is typed on a page; where the provider takes a key instead, that is asked for. */
export async function logIn(server: Server, secrets: Secrets): Promise<void> {
  const provider = await choose(server, "Log in to");
  if (provider === undefined) {
    return;
  }
  const login = await server.command<Login>("tark.auth.login", { provider });
  if (login.userCode && login.verificationUri) {
    await show(login.provider, login.userCode, login.verificationUri);
  } else {
    await askForKey(secrets, provider);
  }
}

export async function setKey(server: Server, secrets: Secrets): Promise<void> {
  const provider = await choose(server, "API key of");
  if (provider !== undefined) {
    await askForKey(secrets, provider);
  }
}

async function choose(server: Server, title: string): Promise<string | undefined> {
  const listing = server
    .command<{ providers: readonly Provider[] }>("tark.auth.status")
    .then(({ providers }) =>
      providers.map(({ provider, status, source, hint }) => ({
        label: provider,
        description: row(status, source),
        ...(hint && { detail: line(hint) }),
      })),
    );
  return (await vscode.window.showQuickPick(listing, { title }))?.label;
}

/** The server opens the page, too, where it can; it tells by itself how the login ended. */
async function show(provider: string, code: string, page: string): Promise<void> {
  const choice = await say(`to log in to ${provider}, type ${code} on ${page}`, "Copy the Code and Open the Page");
  if (choice !== undefined) {
    await vscode.env.clipboard.writeText(code);
    await vscode.env.openExternal(vscode.Uri.parse(page, true));
  }
}

async function askForKey(secrets: Secrets, provider: string): Promise<void> {
  const variable = variableOf(provider, vscode.workspace.getConfiguration("tark").inspect("providers")?.globalValue);
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
