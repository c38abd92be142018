/** The language client of one server process: our capabilities, what we answer it, and what we do in its place. */

import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  type ClientCapabilities,
  DidSaveTextDocumentNotification,
  type HandleWorkDoneProgressSignature,
  LanguageClient,
  type LanguageClientOptions,
  LSPErrorCodes,
  MessageType,
  RequestType,
  ResponseError,
  RevealOutputChannelOn,
  NotificationType,
  ShowMessageNotification,
  ShowMessageRequest,
  WorkDoneProgressCancelNotification,
} from "vscode-languageclient/node";
import { say, warn } from "../status/notify";
import type { Input, InputReply, Permission, PermissionReply, Session } from "../model/protocol";
import type { UpdateParams } from "../model/transcriptTypes";
import { TakenBack } from "../asking/waiting";
import { type ClientState, clientState, type WantedState } from "./clientState";
import { CAPABILITIES } from "./contract";
import type { ServerProcess } from "./process";
import { save } from "./save";
import { Saves } from "./saves";

/** What the rest of the extension does for the server. */
export interface Rim {
  readonly log: vscode.OutputChannel;
  readonly trace: vscode.OutputChannel;
  /** Asked for by `workspace/configuration`. */
  settings(): object;
  updated(params: UpdateParams): void;
  sessionChanged(session: Session): void;
  permission(request: Permission, token: vscode.CancellationToken): Promise<PermissionReply>;
  input(request: Input, token: vscode.CancellationToken): Promise<InputReply>;
  progress: (token: string | number, value: Parameters<HandleWorkDoneProgressSignature>[1], cancel: () => void) => void;
  /** A command of a code action or a lens. */
  execute(command: string, given: unknown[], next: (given: unknown[]) => Promise<unknown>): Promise<unknown>;
}

const UPDATE = new NotificationType<UpdateParams>("tark/update");
const SESSION = new NotificationType<{ session: Session }>("tark/session");
const PERMISSION = new RequestType<Permission, PermissionReply, void>("tark/requestPermission");
const INPUT = new RequestType<Input, InputReply, void>("tark/requestInput");
const CLIENT_STATE = new RequestType<WantedState, ClientState, void>("tark/clientState");
const SAVE = new RequestType<{ uris: string[] }, { saved: string[] }, void>("tark/save");

export function newLanguageClient(process: ServerProcess, initializationOptions: object, rim: Rim): LanguageClient {
  const cancel = (token: string | number): void => {
    client.sendNotification(WorkDoneProgressCancelNotification.type, { token }).catch(() => undefined); // it has ended
  };
  const saves = new Saves((document, reason) =>
    client.sendNotification(DidSaveTextDocumentNotification.type, {
      ...client.code2ProtocolConverter.asSaveTextDocumentParams(document),
      ...{ reason },
    }),
  );
  const settings = options(initializationOptions, rim, cancel, saves);
  const client: LanguageClient = new QuietClient("tark", "Tark", () => Promise.resolve(process.child), settings);
  client.registerFeature({
    fillClientCapabilities: (capabilities: ClientCapabilities) => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined), tark: CAPABILITIES };
    },
    initialize: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  });
  client.registerFeature(saves);
  // In place of the client's own way, which makes links of what others wrote.
  client.onNotification(ShowMessageNotification.type, ({ type, message }) => void show(type)(message));
  client.onRequest(ShowMessageRequest.type, async ({ type, message, actions = [] }) => {
    const title = await show(type)(message, ...actions.map((action) => action.title));
    return actions.find((action) => action.title === title) ?? null;
  });
  client.onNotification(UPDATE, (params) => rim.updated(params));
  client.onNotification(SESSION, ({ session }) => rim.sessionChanged(session));
  client.onRequest(PERMISSION, (request, token) => rim.permission(request, token).catch(takenBack));
  client.onRequest(INPUT, (request, token) => rim.input(request, token).catch(takenBack));
  client.onRequest(CLIENT_STATE, (wanted) => clientState(wanted, client));
  client.onRequest(SAVE, async ({ uris }) => ({ saved: await save(uris) }));
  return client;
}

function show(type: MessageType): typeof say {
  const tell = type === MessageType.Error || type === MessageType.Warning ? warn : say;
  return (message, ...actions) => tell(message.replace(/^Tark: /, ""), ...actions);
}

function takenBack(problem: unknown): never {
  throw problem instanceof TakenBack ? new ResponseError(LSPErrorCodes.RequestCancelled, problem.message) : problem;
}

/** The end of its server is told by us, once, and is no fault of the client that it did not start. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override async stop(timeout?: number): Promise<void> {
    try {
      await super.stop(timeout);
    } catch (problem) {
      this.outputChannel.appendLine(String(problem));
    }
  }
}

function options(
  initializationOptions: object,
  rim: Rim,
  cancel: (token: string | number) => void,
  { didSave }: Saves,
): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file" }],
    initializationOptions,
    outputChannel: rim.log,
    traceOutputChannel: rim.trace,
    revealOutputChannelOn: RevealOutputChannelOn.Never, // it would take the place of what the person looks at
    markdown: { isTrusted: false, supportHtml: false },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    middleware: {
      didSave,
      handleWorkDoneProgress: (token, value, next) => {
        rim.progress(token, value, () => cancel(token));
        if (value.kind === "end") {
          next(token, value); // the client forgets the token; what it would show it was never told of
        }
      },
      executeCommand: (command, given: unknown[], next) =>
        rim.execute(command, given, async (argument) => (await next(command, argument)) as unknown),
      workspace: {
        configuration: (params) => params.items.map((item) => (item.section === "tark" ? rim.settings() : null)),
      },
    },
  };
}
