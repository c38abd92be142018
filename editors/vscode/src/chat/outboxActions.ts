/** What the outbox does: starts and steers turns, and makes sessions. */

import type { Memento } from "vscode";
import type { ChatDependencies } from "./dependencies";
import { activeFile } from "./editors";
import { untilReady } from "./heldPrompt";
import type { OutboxActions } from "./outbox";

export function outboxActions({ server, sessions, setup, turns, updates }: ChatDependencies, memory: Memento): OutboxActions {
  return {
    state: server.state,
    activeDocument: () => {
      const document = activeFile();
      return document && { uri: document.uri.toString(), version: document.version };
    },
    start: async (prompt, sessionId, textDocument, kind) => {
      await untilReady(memory, setup, prompt);
      return turns.sendPrompt({ prompt, ...(kind && { kind }), ...(sessionId !== undefined && { sessionId }), ...(textDocument && { textDocument }) });
    },
    steer: async (turn, prompt) => {
      const { accepted } = await server.executeCommand<{ accepted: boolean }>("tark.turn.steer", { turnId: turn.turnId, prompt });
      if (accepted) {
        updates.addSteer(turn, prompt);
      }
      return accepted;
    },
    forkBefore: async (sessionId, turnId) => {
      const other = await sessions.forkBefore(sessionId, turnId);
      const { model, mode, approval, thinking } = server.state.sessions.get(sessionId) ?? {};
      const kept = Object.entries({ model, mode, approval, thinking }).filter(([, value]) => value != null);
      await server.executeCommand("tark.settings.set", { ...Object.fromEntries(kept), sessionId: other }); // it can be a new session
      return other;
    },
    newSession: async () => (await server.executeCommand<{ sessionId: string }>("tark.session.new")).sessionId,
  };
}
