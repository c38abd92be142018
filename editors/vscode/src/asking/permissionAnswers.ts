/** The possible answers to a permission request, for code lenses and pickers. Pure. */

import { grantWords } from "./permissionText";
import type { Permission, PermissionReply } from "../model/protocol";

export interface Reply {
  readonly kind: "reply";
  readonly title: string;
  readonly reply: PermissionReply;
}
/** `because`: asks for the reason first. `hunks`: goes to the hunks, to decide them one by one. `grants`: lists them. */
export interface FollowUp {
  readonly kind: "because" | "hunks" | "grants";
  readonly title: string;
}
export type Answer = Reply | FollowUp;

/** More grants do not fit above a line, so they are shown in a list. */
const MOST_GRANTS = 2;

interface Allowing {
  readonly title: string;
  readonly reply: PermissionReply;
}

/** The answers that allow a request once. If the command would not see unsaved changes, they say so. */
export function allowing({ unsaved }: Permission): readonly [Allowing, ...Allowing[]] {
  return unsaved?.length
    ? [
        { title: "Save and Run", reply: { outcome: "allow", save: true } },
        { title: "Run Anyway", reply: { outcome: "allow" } },
      ]
    : [{ title: "Allow", reply: { outcome: "allow" } }];
}

/** `allowed`: the user has seen the whole request, or does not have to. */
export function permissionAnswers(request: Permission, allowed: boolean): Answer[] {
  const reply = (title: string, reply_: PermissionReply): Answer => ({ kind: "reply", title, reply: reply_ });
  const byHunk: Answer[] = request.edits?.length ? [{ kind: "hunks", title: "Decide Hunk by Hunk" }] : [];
  return [
    ...(allowed ? allowing(request).map(({ title, reply: given }) => reply(title, given)) : []),
    reply("Reject", { outcome: "reject" }), // second, so that it is visible in a narrow editor, too
    ...(allowed ? grantAnswers(request) : []),
    { kind: "because", title: "Reject with Reason…" },
    ...byHunk,
    reply("Cancel Turn", { outcome: "cancelled" }),
  ];
}

/** The answers that allow a request for longer, or one answer that lists them. */
export function grantAnswers(request: Permission): Answer[] {
  return request.grants.length > MOST_GRANTS ? [{ kind: "grants", title: "Allow for Longer…" }] : grantReplies(request);
}

export function grantReplies(request: Permission): Reply[] {
  return request.grants.map(({ id, covers }) => ({ kind: "reply", title: grantWords(request, covers), reply: { outcome: "allow", grant: id } }));
}
