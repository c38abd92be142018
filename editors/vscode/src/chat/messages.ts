/**
 * The messages between the extension and the page of the chat. Only types and tables, since both bundles contain them.
 */

import type { CodeBlock } from "../text/codeBlocks";
import type { KeyCheck } from "../model/keyCheck";
import type { Remedy } from "../model/turnProblems";
import type { SetupView } from "../model/setup";
import type { SessionAction } from "../model/sessionRow";
import type { Block, PlanEntry, ToolCall, Turn, Usage } from "../model/transcriptTurn";

/** A turn without its blocks. `sending`: the server has not accepted it yet. */
export interface TurnHead {
  readonly turnId: string;
  readonly state: Turn["state"] | "sending";
  readonly prompt: string;
  /** The turn is queued behind another turn. */
  readonly waits?: boolean;
  readonly turnKind?: string;
  /** The lines that the turn is about, from 0; `last` is inclusive. */
  readonly place?: { readonly uri: string; readonly first: number; readonly last: number };
  readonly model?: string;
  readonly plan?: readonly PlanEntry[];
  readonly usage?: Usage;
  readonly stopReason?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
  /** The turn has called tools, so it is continued, not repeated. */
  readonly worked?: boolean;
  /** The turn can be tried again `at` this time. `waits`: the extension then does so by itself. */
  readonly retry?: { readonly at: number; readonly waits: boolean };
  /** What became of the key that the turn needed. */
  readonly key?: Pick<KeyCheck, "result" | "message">;
  /** How many files the turn changed. */
  readonly edits?: number;
  /** There may be changes to undo. */
  readonly undoable?: boolean;
  /** The URIs of files that the turn's commands changed. */
  readonly changed?: readonly string[];
  /** How much of its changes is undone. */
  readonly undone?: "all" | "partly";
  readonly mode?: string;
}

/** The call ran for `ms` milliseconds. If `since` is set, it has been running again since that time. */
export interface CallView extends ToolCall {
  readonly ms?: number;
  readonly since?: number;
}

export type BlockView = Exclude<Block, ToolCall> | CallView;

/** `index`: the index of the block in its turn. `from`: how many of its characters were posted before. */
export type TranscriptChange =
  | { readonly kind: "turn"; readonly head: TurnHead }
  | { readonly kind: "block"; readonly turnId: string; readonly index: number; readonly block: BlockView }
  | {
      readonly kind: "words";
      readonly turnId: string;
      readonly index: number;
      readonly from: number;
      readonly delta: string;
    };

export interface TranscriptView {
  readonly sessionId?: string;
  readonly earlier: boolean;
  readonly turns: readonly { readonly head: TurnHead; readonly blocks: readonly BlockView[] }[];
}

/** What the header and the footer show. */
export interface Status {
  readonly server: "running" | "starting" | "none";
  readonly sessionId?: string;
  readonly title: string;
  /** Why the session is read-only: another process holds it, or it belongs to another workspace. */
  readonly readOnly?: "held" | "elsewhere";
  readonly model: string;
  /** Empty: none. */
  readonly agent: string;
  readonly mode: string;
  readonly approval: string;
  readonly costUsd?: number;
  readonly contextUsed?: number;
  readonly contextWindow?: number;
  readonly hunks: number;
  /** The URIs of the workspace folders, which file names are relative to. */
  readonly folders: readonly string[];
}

export interface HunkView {
  readonly range?: { readonly start: { readonly line: number } };
  readonly oldText: string;
  readonly newText: string;
  readonly state?: string;
  readonly outsideSelection?: boolean;
  readonly operation?: { readonly kind: string; readonly target?: string };
}

export interface Diff {
  readonly uri: string;
  readonly hunks: readonly HunkView[];
}

export interface PermissionRow {
  readonly requestId: string;
  /** An answer counts only for this version. */
  readonly version: string;
  readonly title: string;
  readonly risk: string;
  readonly why: string;
  /** The command would not see unsaved changes. */
  readonly isUnsaved?: boolean;
  /** It can be allowed only after the user has seen all of it. */
  readonly mustBeSeen?: boolean;
  /** `env`: variables that differ from the extension's environment. */
  readonly command?: {
    readonly text: string;
    readonly cwd: string;
    readonly argv: readonly string[];
    readonly env: readonly string[];
    /** What the command can access beyond the sandbox, such as `, with the network`. */
    readonly beyond?: string;
  };
  readonly edits?: readonly Diff[];
  readonly grants: readonly { readonly id: string; readonly covers: string }[];
}

export interface InputRow {
  readonly requestId: string;
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly multiple: boolean;
  readonly freeText: boolean;
  /** Otherwise Tark itself asks. */
  readonly byModel?: boolean;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly title: string;
  /** Age, number of turns, model and cost. */
  readonly figures: string;
  readonly current: boolean;
}

/** A chip above the prompt. The id of the current file is `place`; `lines` is its selection. */
export interface AttachmentRow {
  readonly id: string;
  readonly name: string;
  readonly lines?: string;
  /** The image as a `data:` URL. */
  readonly thumbnail?: string;
}

/** Replaces characters `from` to `to` of the prompt by `insert`. `runs`: a command that runs at once instead. */
export interface CompletionRow {
  readonly label: string;
  readonly detail?: string;
  readonly insert: string;
  readonly from: number;
  readonly to: number;
  readonly runs?: SlashCommand;
}

export type ToPage =
  | { readonly kind: "transcript"; readonly transcript: TranscriptView; readonly sending: readonly TurnHead[] }
  | { readonly kind: "changes"; readonly changes: readonly TranscriptChange[] }
  | { readonly kind: "sending"; readonly turns: readonly TurnHead[] }
  | { readonly kind: "status"; readonly status: Status }
  | { readonly kind: "waiting"; readonly permissions: readonly PermissionRow[]; readonly inputs: readonly InputRow[] }
  | { readonly kind: "sessions"; readonly sessions: readonly SessionRow[]; readonly all: boolean }
  | { readonly kind: "completion"; readonly id: number; readonly items: readonly CompletionRow[] }
  /** Text that could not be sent, to go above the text of the prompt. `instead`: the turn it was to replace. */
  | { readonly kind: "words"; readonly words: string; readonly instead?: ReplacedTurn }
  | { readonly kind: "draft"; readonly words: string }
  | { readonly kind: "attachments"; readonly items: readonly AttachmentRow[]; readonly warning: string }
  /** A mention to insert at the cursor. */
  | { readonly kind: "mention"; readonly text: string }
  /** Another chat has the text of the prompt now. */
  | { readonly kind: "moved" }
  | { readonly kind: "say"; readonly words: string }
  /** Null: nothing has to be set up. */
  | { readonly kind: "setup"; readonly setup: SetupView | null }
  | { readonly kind: "focus" };

/** The commands of the extension that buttons of the page run. */
export const PAGE_COMMANDS = {
  model: "tark.client.selectModel",
  agent: "tark.client.selectAgent",
  mode: "tark.client.selectMode",
  approval: "tark.client.selectApproval",
  context: "tark.client.showContext",
  usage: "tark.client.showUsage",
  review: "tark.client.showChanges",
  restart: "tark.client.restart",
  new: "tark.client.newSession",
  sessions: "tark.client.sessions",
  undo: "tark.client.undo",
  compact: "tark.client.compact",
  export: "tark.client.exportSession",
  doctor: "tark.client.doctor",
} as const;

/** The commands of the buttons that help after an error. */
export const REMEDY_COMMANDS: Readonly<Record<Exclude<Remedy, "again" | "continue">, string>> = {
  setKey: "tark.client.setKey",
  chooseModel: "tark.client.selectModel",
  newSession: "tark.client.newSession",
  settings: "tark.client.settings",
  output: "tark.client.showOutput",
};
/** The extension's own `/commands`; the server has prompts, too. Each runs the page command with the same name. */
export const SLASH_COMMANDS = {
  new: { about: "start a new session" },
  sessions: { about: "open another session" },
  model: { about: "select the model" },
  agent: { about: "select the custom agent" },
  mode: { about: "select what Tark may do" },
  approval: { about: "select what Tark asks about" },
  undo: { about: "undo the changes of the last turn" },
  compact: { about: "summarize the session to free room" },
  context: { about: "show what the next prompt contains" },
  usage: { about: "show tokens and cost" },
  export: { about: "export the session to a file" },
  doctor: { about: "check what works" },
} as const;

export type SlashCommand = keyof typeof SLASH_COMMANDS;

/** A turn whose prompt is replaced by an edited one, which starts a turn of the same kind in a new session. */
export interface ReplacedTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly turnKind?: string;
}

export interface Reply { outcome: "allow" | "reject" | "cancelled"; grant?: string; reason?: string; save?: boolean }

export type ToHost =
  | { readonly kind: "ready" }
  /** The page has the focus. */
  | { readonly kind: "focused" }
  | { readonly kind: "blurred" }
  | { readonly kind: "send"; readonly words: string; readonly instead?: ReplacedTurn }
  | { readonly kind: "steer"; readonly words: string }
  | { readonly kind: "cancel"; readonly turnId?: string }
  | { readonly kind: "undo" | "redo" | "restore"; readonly turnId: string }
  | { readonly kind: "approvePlan" }
  | { readonly kind: "draft"; readonly words: string }
  | { readonly kind: "attach" }
  | { readonly kind: "attachUris"; readonly uris: readonly string[] }
  /** `data`: base64 of an image, else text. `size` in bytes; `data` is empty if it is far too large. */
  | { readonly kind: "attachData"; readonly name: string; readonly mimeType: string; readonly data: string; readonly size: number }
  | { readonly kind: "detach"; readonly id: string }
  | { readonly kind: "earlier" }
  /** The page is scrolled to the end, so the last turns are enough. */
  | { readonly kind: "fewer" }
  | { readonly kind: "open"; readonly path: string; readonly first?: number; readonly last?: number }
  | { readonly kind: "openUri"; readonly uri: string; readonly line?: number }
  | { readonly kind: "browse"; readonly url: string }
  | { readonly kind: "copy" | "insert"; readonly text: string }
  | ({ readonly kind: "apply" | "newFile" } & CodeBlock)
  | { readonly kind: "complete"; readonly id: number; readonly text: string; readonly offset: number }
  | { readonly kind: "run"; readonly what: keyof typeof PAGE_COMMANDS }
  /** `all`: the sessions of other workspaces, too. */
  | { readonly kind: "sessions"; readonly all: boolean }
  | { readonly kind: "session"; readonly action: SessionAction; readonly sessionId: string }
  | { readonly kind: "newSession" }
  /** Sends the prompt of a turn again, or "Continue.". */
  | { readonly kind: "again"; readonly turnId: string; readonly how: "retry" | "continue" }
  /** Tries a turn again as soon as the provider allows it, or no longer does that. */
  | { readonly kind: "wait"; readonly turnId: string }
  | { readonly kind: "remedy"; readonly turnId: string; readonly remedy: Exclude<Remedy, "again" | "continue">; readonly provider?: string }
  | { readonly kind: "setup"; readonly offer: string }
  | { readonly kind: "permission"; readonly version: string; readonly reply: Reply; readonly wasSeen?: boolean }
  | { readonly kind: "showPermission"; readonly requestId: string }
  | { readonly kind: "input"; readonly requestId: string; readonly answer: readonly string[] | string | null };
