/** The actions of the outbox: starts and steers turns, and creates sessions. */

import type { Memento } from "vscode";
import { contextParts } from "./attached";
import type { Attachments } from "./attachments";
import type { ChatDependencies } from "./dependencies";
import type { Place } from "../model/place";
import { untilReady } from "./heldPrompt";
import type { OutboxActions } from "./outbox";

export function outboxActions({ server, sessions, setup, turns, updates }: ChatDependencies, memory: Memento, place: Place, attachments: Attachments): OutboxActions {
  return {
    state: server.state,
    place,
    takeContext: () => attachments.take(),
    start: async (prompt, sessionId, { attached, ...about }, kind) => {
      await untilReady(memory, setup, prompt);
      const context = attached.length > 0 && { context: contextParts(attached) };
      const session = sessionId !== undefined && { sessionId };
      return turns.sendPrompt({ prompt, ...(kind && { kind }), ...session, ...about, ...context }, place);
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
      const { model, mode, approval, thinking, agent } = server.state.sessions.get(sessionId) ?? {};
      const kept = Object.entries({ mode, model, approval, thinking, agent }).filter(([, value]) => value != null);
      await server.executeCommand("tark.settings.set", { ...Object.fromEntries(kept), sessionId: other }); // it can be a new session
      return other;
    },
    newSession: async () => (await server.executeCommand<{ sessionId: string }>("tark.session.new")).sessionId,
  };
}
