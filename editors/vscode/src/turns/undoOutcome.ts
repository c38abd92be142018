/** A description of what undo or redo of a turn did, and whether the user needs a notification about it. Pure. */

import type { State } from "../model/state";
import { counted } from "../text/figures";
import { plainExcerpt } from "../text/surfaces";

const LONGEST_PROMPT = 40; // characters

export interface UndoAnswer {
  readonly restored: readonly string[];
  readonly kept: readonly { readonly uri: string; readonly reason: string }[];
  /** What undo never covers, if that matters for this turn. */
  readonly note?: string;
}

export interface Outcome {
  readonly message: string;
  /** Nothing of the turn is left for another attempt. */
  readonly complete: boolean;
}

interface Done extends UndoAnswer {
  readonly verb: "undid" | "redid";
  /** See `promptOf`. */
  readonly prompt: string;
  /** How many of its changes are not applied and wait for review. */
  readonly waiting?: number;
}

/** Undefined: nothing was done, and nothing was left out. */
export function describeOutcome({ verb, prompt, restored, kept, note, waiting = 0 }: Done, name: (uri: string) => string): Outcome | undefined {
  const parts = [
    ...(restored.length > 0 ? [`${verb} ${prompt} in ${restored.map(name).join(", ")}`] : []),
    ...kept.map(({ uri, reason }) => `kept ${name(uri)}: ${reason}`),
    ...(waiting > 0 ? [`${prompt}: ${counted(waiting, "change")} still wait${waiting === 1 ? "s" : ""} for your review`] : []),
    ...(note !== undefined && restored.length > 0 ? [note] : []),
  ];
  return parts.length === 0 ? undefined : { message: parts.join("; "), complete: kept.length + waiting === 0 };
}

/** `isShown`: a visible chat shows the turn, and that it is undone. It does not show what was kept, or why. */
export function outcomeLevel({ complete }: Outcome, isShown: boolean): "info" | "warning" | undefined {
  if (!complete) {
    return "warning";
  }
  return isShown ? undefined : "info";
}

export function promptOf(state: State, turnId: string): string {
  const known = [...state.transcripts.values()].map(({ byId }) => byId.get(turnId)?.prompt);
  const line = known.find((prompt) => prompt)?.split("\n", 1)[0] ?? "";
  return line === "" ? "the last turn" : `“${plainExcerpt(line, LONGEST_PROMPT)}”`;
}

export function sessionOf(state: State, turnId: string): string {
  return [...state.transcripts.values()].find(({ byId }) => byId.has(turnId))?.sessionId ?? "";
}
