/** Approves the plan of a turn in mode plan: the session changes to mode build, and a prompt tells the model to carry it out. */

import type { Server } from "../model/server";
import { showInfo } from "../window/notify";
import type { Turns } from "./turns";

/** The terminal and Neovim send the same. */
const CARRY_OUT = "I approve the plan. Carry it out.";

export async function approvePlan(server: Server, turns: Turns): Promise<void> {
  const { sessionId, sessions } = server.state;
  if (sessionId === undefined || sessions.get(sessionId)?.mode !== "plan") {
    void showInfo("there is no plan: the mode of this session is not plan");
    return;
  }
  await server.executeCommand("tark.settings.set", { sessionId, mode: "build" });
  await turns.sendPrompt({ prompt: CARRY_OUT, sessionId });
}
