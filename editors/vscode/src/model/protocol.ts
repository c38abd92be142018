/** Types of docs/protocol.md, except transcripts (transcript.ts, transcriptTurn.ts). Positions are LSP positions in UTF-16 units. */

/** A field that the server can send as null, or omit. */
export type Optional<T> = T | null | undefined;

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface Hunk {
  readonly hunkId: string;
  readonly turnId: string;
  /** In the document's `version`. Covers the old text if the hunk is not applied, else the new text. */
  readonly range: Range;
  readonly oldText: string;
  readonly newText: string;
  readonly applied: boolean;
  readonly state: "pending" | "accepted" | "rejected" | "conflict" | "stale";
  readonly outsideSelection?: boolean;
  /** Set if the hunk removes or moves the file. */
  readonly operation?: Optional<{ readonly kind: "remove" | "move"; readonly target?: Optional<string> }>;
  /** Why the hunk is in conflict or stale. */
  readonly reason?: Optional<string>;
}

export interface DocumentHunks {
  readonly uri: string;
  /** Absent if the document is not open. */
  readonly version?: Optional<number>;
  readonly hunks: readonly Hunk[];
}

/** Params of `tark/requestPermission`. */
export interface Permission {
  readonly requestId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolCallIds?: Optional<readonly string[]>;
  readonly title: string;
  readonly toolKind: string;
  readonly risk: "read_only" | "write" | "risky" | "dangerous";
  readonly why: string;
  readonly digest: string;
  readonly command?: Optional<{
    readonly argv: readonly string[];
    readonly text: string;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly sandboxed?: boolean;
    readonly network?: boolean;
    readonly writable?: readonly string[];
  }>;
  readonly edits?: Optional<readonly DocumentHunks[]>;
  readonly grants: readonly { readonly id: string; readonly covers: string; readonly scope?: string }[];
  /** URIs of documents with unsaved changes, which the command would not see. */
  readonly unsaved?: Optional<readonly string[]>;
}

/** A row of `tark.permissions.list`. */
export interface GivenPermission {
  readonly id: string;
  readonly kind: "grant" | "trust";
  readonly scope: string;
  readonly covers: string;
  /** The workspace folder of a stored permission. */
  readonly folder?: Optional<string>;
  readonly holds: boolean;
}

export interface PermissionReply {
  readonly outcome: "allow" | "reject" | "cancelled";
  readonly grant?: string;
  readonly hunks?: readonly string[];
  readonly edited?: readonly { readonly hunkId: string; readonly newText: string }[];
  readonly reason?: string;
  /** Saves the unsaved documents first. */
  readonly save?: boolean;
}

/** Params of `tark/requestInput`. */
export interface Input {
  readonly requestId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly multiple: boolean;
  readonly freeText: boolean;
  /** The model asks, not Tark itself. */
  readonly byModel?: Optional<boolean>;
}

/** `null`: the user declined to answer. */
export interface InputReply {
  readonly answer: string | readonly string[] | null;
}

export interface Session {
  readonly sessionId: string;
  readonly title: string;
  readonly created: string;
  readonly updated: string;
  readonly folders: readonly string[];
  readonly turns: number;
  readonly model?: Optional<string>;
  readonly mode?: Optional<string>;
  readonly approval?: Optional<string>;
  readonly thinking?: Optional<string>;
  readonly agent?: Optional<string>;
  readonly effective?: Optional<UsedSettings>;
  readonly costUsd?: Optional<number>;
  readonly parent?: Optional<string>;
  readonly readOnly?: Optional<boolean>;
  readonly heldBy?: Optional<{ readonly pid: number; readonly host: string }>;
}

/** The settings of new sessions, from `tark.state`. */
/** The settings of a session as its custom agent changes them. */
export interface UsedSettings {
  readonly model?: Optional<string>;
  readonly mode: string;
  readonly approval: string;
}

/** The answer of `tark.agents.list`. `reason`: why the agent cannot be used. */
export interface AgentList {
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly origin: string;
    readonly reason: string;
    readonly model?: Optional<string>;
    readonly mode: string;
    readonly approval: string;
  }[];
  readonly problems: readonly string[];
}

export interface EffectiveSettings {
  readonly model?: Optional<string>;
  readonly mode?: Optional<string>;
  readonly approval?: Optional<string>;
  readonly thinking?: Optional<string>;
  readonly agent?: Optional<string>;
  readonly effective?: Optional<UsedSettings>;
  readonly [key: string]: unknown;
}

export interface NamedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly needsSelection: boolean;
}

/** The answer of `tark.turn.start`. */
export interface StartedTurn {
  readonly sessionId: string;
  readonly turnId: string;
  /** The number of turns that run before it. */
  readonly queued?: Optional<number>;
}

/** The answer of `tark.state`: the fields that are used. */
export interface ServerState {
  readonly permissions?: Optional<readonly Permission[]>;
  readonly inputs?: Optional<readonly Input[]>;
  readonly sessions?: Optional<readonly Session[]>;
  readonly settings?: Optional<EffectiveSettings>;
  readonly prompts?: Optional<readonly NamedPrompt[]>;
}
