/** What is known of the server, as the page's rows: nothing more than it shows. Pure. */

import { age, counted, money, row } from "../text/figures";
import type { Input, Permission, Session } from "../model/protocol";
import { versionOf } from "../asking/permissionText";
import type { State } from "../model/state";
import type { InputRow, PermissionRow, SessionRow, Status } from "./messages";

export function statusOf(state: State, server: Status["server"], folders: readonly string[]): Status {
  const session = state.sessions.get(state.sessionId ?? "");
  const turns = state.transcripts.get(state.sessionId ?? "")?.turns ?? [];
  const usage = turns.findLast((turn) => turn.usage?.contextUsed !== undefined)?.usage;
  const of = (key: "model" | "mode" | "approval"): string => session?.[key] ?? state.settings?.[key] ?? "";
  // Of the session as it was told last, and what its turns said since.
  const told = turns.reduce((sum, turn) => sum + (turn.usage?.costUsd ?? 0), 0);
  const cost = Math.max(session?.costUsd ?? 0, told);
  let hunks = 0;
  for (const document of state.hunks.values()) {
    hunks += document.hunks.length;
  }
  return {
    server,
    ...(state.sessionId !== undefined && { sessionId: state.sessionId }),
    title: session?.title ?? "",
    ...(session?.readOnly === true && { readOnly: session.heldBy ? "held" : "elsewhere" }),
    model: of("model"),
    mode: of("mode"),
    approval: of("approval"),
    ...(cost > 0 && { costUsd: cost }),
    ...(usage?.contextUsed !== undefined && { contextUsed: usage.contextUsed }),
    ...(usage?.contextWindow !== undefined && { contextWindow: usage.contextWindow }),
    hunks,
    folders,
  };
}

/** `ownEnv`: the person's environment. */
export function permissionRow(request: Permission, ownEnv: Readonly<Record<string, string | undefined>>): PermissionRow {
  const { requestId, title, risk, why, command, edits, grants } = request;
  return {
    requestId,
    version: versionOf(request),
    title,
    risk,
    why,
    ...(command && {
      command: {
        text: command.text,
        cwd: command.cwd,
        argv: command.argv,
        env: Object.entries(command.env).flatMap(([name, value]) => (ownEnv[name] === value ? [] : [`${name}=${value}`])),
      },
    }),
    ...(edits && {
      edits: edits.map(({ uri, hunks }) => ({
        uri,
        hunks: hunks.map(({ range, oldText, newText, state, outsideSelection, operation }) => ({
          range,
          oldText,
          newText,
          state,
          ...(outsideSelection === true && { outsideSelection }),
          ...(operation && { operation: { kind: operation.kind, ...(operation.target != null && { target: operation.target }) } }),
        })),
      })),
    }),
    grants,
  };
}

export function inputRow({ requestId, question, options, multiple, freeText, byModel }: Input): InputRow {
  return { requestId, question, options, multiple, freeText, byModel: byModel === true };
}

export function sessionRow(session: Session, current: string | undefined, now: number): SessionRow {
  const { sessionId, title, updated, turns, model, costUsd, readOnly } = session;
  return {
    sessionId,
    title,
    figures: row(age(updated, now), counted(turns, "turn"), model, costUsd ? money(costUsd) : "", readOnly && "read-only"),
    current: sessionId === current,
  };
}
