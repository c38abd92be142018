/** Converts the state to exactly what the page shows. Pure. */

import { sessionFigures } from "../model/sessionRow";
import type { Input, Permission, Session } from "../model/protocol";
import { beyondWorkspace, requestVersion } from "../asking/permissionText";
import type { State } from "../model/state";
import { usedSettings } from "../model/usedSettings";
import type { InputRow, PermissionRow, SessionRow, Status } from "./messages";

export function statusOf(state: State, server: Status["server"], folders: readonly string[], { sessionId } = state.place): Status {
  const session = state.sessions.get(sessionId ?? "");
  const turns = state.transcripts.get(sessionId ?? "")?.turns ?? [];
  const usage = turns.findLast((turn) => turn.usage?.contextUsed)?.usage;
  const used = usedSettings(session);
  const defaults = usedSettings(state.settings ?? undefined);
  const setting = (key: "model" | "mode" | "approval"): string => used?.[key] ?? defaults?.[key] ?? "";
  // The session's last reported cost, or the sum of its turns if that is newer.
  const costOfTurns = turns.reduce((sum, turn) => sum + (turn.usage?.costUsd ?? 0), 0);
  const cost = Math.max(session?.costUsd ?? 0, costOfTurns);
  let hunks = 0;
  for (const document of state.hunks.values()) {
    hunks += document.hunks.length;
  }
  return {
    server,
    ...(sessionId !== undefined && { sessionId }),
    title: session?.title ?? "",
    ...(session?.readOnly === true && { readOnly: session.heldBy ? "held" : "elsewhere" }),
    model: setting("model"),
    agent: (session ?? state.settings)?.agent ?? "",
    mode: setting("mode"),
    approval: setting("approval"),
    ...(cost > 0 && { costUsd: cost }),
    ...(usage?.contextUsed !== undefined && { contextUsed: usage.contextUsed }),
    ...(usage?.contextWindow !== undefined && { contextWindow: usage.contextWindow }),
    hunks,
    folders,
  };
}

/** `ownEnv`: the user's environment. `mustBeSeen`: the user must see all of it before allowing it. */
export function permissionRow(request: Permission, ownEnv: Readonly<Record<string, string | undefined>>, mustBeSeen = false): PermissionRow {
  const { requestId, title, risk, why, command, edits, grants } = request;
  return {
    requestId,
    version: requestVersion(request),
    title,
    risk,
    why,
    mustBeSeen,
    isUnsaved: (request.unsaved ?? []).length > 0,
    ...(command && {
      command: {
        text: command.text,
        cwd: command.cwd,
        argv: command.argv,
        beyond: beyondWorkspace(command),
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
  const { sessionId, title } = session;
  return {
    sessionId,
    title,
    figures: sessionFigures(session, now),
    current: sessionId === current,
  };
}
