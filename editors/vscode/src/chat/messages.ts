/** What the extension and the page of its chat tell each other. Types and tables only: both sides are built with it. */

import type { Notice, PlanEntry, ToolCall, Turn, Usage, Words } from "../model/transcriptTypes";

/** A turn without its blocks. `sending`: the server has not taken it yet. */
export interface TurnHead {
  readonly turnId: string;
  readonly state: Turn["state"] | "sending";
  readonly prompt: string;
  /** For a turn before it. */
  readonly waits?: boolean;
  readonly turnKind?: string;
  readonly model?: string;
  readonly plan?: readonly PlanEntry[];
  readonly usage?: Usage;
  readonly stopReason?: string;
  readonly error?: { readonly message: string; readonly hint: string };
  /** Files that it changed. */
  readonly edits?: number;
  /** There may be something to take back. */
  readonly undoable?: boolean;
  /** Uris of the files that its commands changed: nobody can take that back. */
  readonly changed?: readonly string[];
}

/** `ms` and `since` tell how long it has run: until `since`, a time, when it began to run again. */
export interface CallView extends ToolCall {
  readonly ms?: number;
  readonly since?: number;
}

export type BlockView = Words | Notice | CallView;

/** `index` is the block's in its turn; `from`: how many characters of it were told before. */
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

/** All that stands around the transcript. */
export interface Status {
  readonly server: "running" | "starting" | "none";
  readonly sessionId?: string;
  readonly title: string;
  /** Why nothing can be said in it: another process has it, or it is of another workspace. */
  readonly readOnly?: "held" | "elsewhere";
  readonly model: string;
  readonly mode: string;
  readonly approval: string;
  readonly costUsd?: number;
  readonly contextUsed?: number;
  readonly contextWindow?: number;
  readonly hunks: number;
  /** Uris of the workspace folders, to name files from. */
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
  /** What was shown is what is answered. */
  readonly version: string;
  readonly title: string;
  readonly risk: string;
  readonly why: string;
  /** `env`: what of it is not as it is here. */
  readonly command?: { readonly text: string; readonly cwd: string; readonly argv: readonly string[]; readonly env: readonly string[] };
  readonly edits?: readonly Diff[];
  readonly grants: readonly { readonly id: string; readonly covers: string }[];
}

export interface InputRow {
  readonly requestId: string;
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly multiple: boolean;
  readonly freeText: boolean;
  /** Else Tark itself asks. */
  readonly byModel?: boolean;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly title: string;
  /** When, how long, what it cost. */
  readonly figures: string;
  readonly current: boolean;
}

/** Characters `from` to `to` of the prompt become `insert`. */
export interface CompletionRow {
  readonly label: string;
  readonly detail?: string;
  readonly insert: string;
  readonly from: number;
  readonly to: number;
}

export type ToPage =
  | { readonly kind: "transcript"; readonly transcript: TranscriptView; readonly sending: readonly TurnHead[] }
  | { readonly kind: "changes"; readonly changes: readonly TranscriptChange[] }
  | { readonly kind: "sending"; readonly turns: readonly TurnHead[] }
  | { readonly kind: "status"; readonly status: Status }
  | { readonly kind: "waiting"; readonly permissions: readonly PermissionRow[]; readonly inputs: readonly InputRow[] }
  | { readonly kind: "sessions"; readonly sessions: readonly SessionRow[]; readonly all: boolean }
  | { readonly kind: "completion"; readonly id: number; readonly items: readonly CompletionRow[] }
  /** Words for the prompt, which stand above what is typed there; of a failed attempt, with what it was in place of. */
  | { readonly kind: "words"; readonly words: string; readonly instead?: Instead }
  | { readonly kind: "draft"; readonly words: string }
  | { readonly kind: "say"; readonly words: string }
  | { readonly kind: "focus" };

/** What a button of the page may run, by the id of the extension's command. */
export const RUNS = {
  model: "tark.client.selectModel",
  mode: "tark.client.selectMode",
  approval: "tark.client.selectApproval",
  usage: "tark.client.showUsage",
  review: "tark.client.showChanges",
  restart: "tark.client.restart",
} as const;

/** A turn whose prompt another one takes the place of, in a session of its own, which is a turn of that kind again. */
export interface Instead {
  readonly sessionId: string;
  readonly turnId: string;
  readonly turnKind?: string;
}

export interface Reply { outcome: "allow" | "reject" | "cancelled"; grant?: string; reason?: string }
export type SessionAction = "open" | "rename" | "fork" | "export" | "delete";

export type ToHost =
  | { readonly kind: "ready" }
  | { readonly kind: "send"; readonly words: string; readonly instead?: Instead }
  | { readonly kind: "steer"; readonly words: string }
  | { readonly kind: "cancel"; readonly turnId?: string }
  | { readonly kind: "undo"; readonly turnId: string }
  | { readonly kind: "draft"; readonly words: string }
  | { readonly kind: "earlier" }
  /** Who follows the end needs the last turns only. */
  | { readonly kind: "fewer" }
  | { readonly kind: "open"; readonly path: string; readonly first?: number; readonly last?: number }
  | { readonly kind: "openUri"; readonly uri: string; readonly line?: number }
  | { readonly kind: "browse"; readonly url: string }
  | { readonly kind: "copy" | "insert" | "apply"; readonly text: string }
  | { readonly kind: "complete"; readonly id: number; readonly text: string; readonly offset: number }
  | { readonly kind: "run"; readonly what: keyof typeof RUNS }
  /** `all`: those of other workspaces, too. */
  | { readonly kind: "sessions"; readonly all: boolean }
  | { readonly kind: "session"; readonly action: SessionAction; readonly sessionId: string }
  | { readonly kind: "newSession" }
  | { readonly kind: "permission"; readonly version: string; readonly reply: Reply }
  | { readonly kind: "showPermission"; readonly requestId: string }
  | { readonly kind: "input"; readonly requestId: string; readonly answer: readonly string[] | string | null };
