/** The language client of one server process: capabilities, handlers of the server's requests, and middleware. */

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
import { showInfo, showWarning } from "../window/notify";
import type { Input, InputReply, Permission, PermissionReply, Session } from "../model/protocol";
import type { McpChange } from "../model/mcp";
import type { UpdateParams } from "../model/transcript";
import { WithdrawnError } from "../model/pendingRequests";
import { type ClientState, clientState, type WantedState } from "./clientState";
import { CAPABILITIES } from "./compatibility";
import { isAskedAbout } from "./languageServers";
import { withoutOffered } from "./problemKinds";
import type { ServerProcess } from "./process";
import { saveDocuments } from "./saveDocuments";
import { SaveReasons } from "./saveReasons";

/** The handlers that the rest of the extension provides. */
export interface ClientHandlers {
  readonly log: vscode.OutputChannel;
  readonly trace: vscode.OutputChannel;
  /** The answer to `workspace/configuration`. */
  settings(): object;
  onUpdate(params: UpdateParams): void;
  onSession(session: Session): void;
  onMcp(change: McpChange): void;
  onPermission(request: Permission, token: vscode.CancellationToken): Promise<PermissionReply>;
  onInput(request: Input, token: vscode.CancellationToken): Promise<InputReply>;
  onProgress: (token: string | number, value: Parameters<HandleWorkDoneProgressSignature>[1], cancel: () => void) => void;
  /** A code action or a code lens runs a command of the server. */
  onExecute(command: string, given: unknown[], next: (given: unknown[]) => Promise<unknown>): Promise<unknown>;
}

/** Watches the files in which a workspace can offer something. One watcher for all servers, since a client does not dispose of it. */
const OFFERS = vscode.workspace.createFileSystemWatcher("**/{.mcp.json,.vscode/mcp.json,.tark/hooks.toml}");
const UPDATE = new NotificationType<UpdateParams>("tark/update");
const SESSION = new NotificationType<{ session: Session }>("tark/session");
const MCP = new NotificationType<McpChange>("tark/mcp");
const PERMISSION = new RequestType<Permission, PermissionReply, void>("tark/requestPermission");
const INPUT = new RequestType<Input, InputReply, void>("tark/requestInput");
const CLIENT_STATE = new RequestType<WantedState, ClientState, void>("tark/clientState");
const SAVE = new RequestType<{ uris: string[] }, { saved: string[] }, void>("tark/save");

export function newLanguageClient(process: ServerProcess, initializationOptions: object, rim: ClientHandlers): LanguageClient {
  const cancel = (token: string | number): void => {
    client.sendNotification(WorkDoneProgressCancelNotification.type, { token }).catch(() => undefined); // the server has ended
  };
  const saves = new SaveReasons((document, reason) =>
    client.sendNotification(DidSaveTextDocumentNotification.type, {
      ...client.code2ProtocolConverter.asSaveTextDocumentParams(document),
      ...{ reason },
    }),
  );
  const settings = clientOptions(initializationOptions, rim, cancel, saves);
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
  // Replaces the client's own handlers, which would create links from text that others wrote.
  client.onNotification(ShowMessageNotification.type, ({ type, message }) => void show(type)(message));
  client.onRequest(ShowMessageRequest.type, async ({ type, message, actions = [] }) => {
    const title = await show(type)(message, ...actions.map((action) => action.title));
    return actions.find((action) => action.title === title) ?? null;
  });
  client.onNotification(UPDATE, (params) => rim.onUpdate(params));
  client.onNotification(SESSION, ({ session }) => rim.onSession(session));
  client.onNotification(MCP, (change) => rim.onMcp(change));
  client.onRequest(PERMISSION, (request, token) => rim.onPermission(request, token).catch(rejectWithdrawn));
  client.onRequest(INPUT, (request, token) => rim.onInput(request, token).catch(rejectWithdrawn));
  client.onRequest(CLIENT_STATE, (wanted) => clientState(wanted, client));
  client.onRequest(SAVE, async ({ uris }) => ({ saved: await saveDocuments(uris) }));
  return client;
}

function show(type: MessageType): typeof showInfo {
  const tell = type === MessageType.Error || type === MessageType.Warning ? showWarning : showInfo;
  return (message, ...actions) => tell(message.replace(/^Tark: /, ""), ...actions);
}

function rejectWithdrawn(problem: unknown): never {
  throw problem instanceof WithdrawnError ? new ResponseError(LSPErrorCodes.RequestCancelled, problem.message) : problem;
}

/** A client that shows no error messages: warnings.ts reports once that the server ended or did not start. */
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

function clientOptions(
  initializationOptions: object,
  rim: ClientHandlers,
  cancel: (token: string | number) => void,
  { didSave }: SaveReasons,
): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file" }],
    initializationOptions,
    synchronize: { fileEvents: OFFERS },
    outputChannel: rim.log,
    traceOutputChannel: rim.trace,
    revealOutputChannelOn: RevealOutputChannelOn.Never, // it would hide what the user looks at
    markdown: { isTrusted: false, supportHtml: false },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    middleware: {
      didSave,
      provideDefinition: (document, position, token, next) => (isAskedAbout(document) ? null : next(document, position, token)),
      provideDocumentSymbols: (document, token, next) => (isAskedAbout(document) ? null : next(document, token)),
      provideHover: (document, position, token, next) => (isAskedAbout(document) ? null : next(document, position, token)),
      provideCodeActions: async (document, range, context, token, next) =>
        withoutOffered((await next(document, range, context, token)) ?? [], context.diagnostics),
      handleWorkDoneProgress: (token, value, next) => {
        rim.onProgress(token, value, () => cancel(token));
        if (value.kind === "end") {
          next(token, value); // so that the client forgets the token; it never showed anything
        }
      },
      executeCommand: (command, given: unknown[], next) =>
        rim.onExecute(command, given, async (argument) => (await next(command, argument)) as unknown),
      workspace: {
        configuration: (params) => params.items.map((item) => (item.section === "tark" ? rim.settings() : null)),
      },
    },
  };
}
