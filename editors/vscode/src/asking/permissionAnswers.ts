/** How a request for permission can be answered, as lenses and pickers offer it. Pure. */

import { grantWords } from "./permissionText";
import type { Permission, PermissionReply } from "../model/protocol";

export interface Reply {
  readonly kind: "reply";
  readonly title: string;
  readonly reply: PermissionReply;
}
/** `because`: the reason is asked for first. `hunks`: the person goes there, to decide on each. */
export interface Longer {
  readonly kind: "because" | "hunks";
  readonly title: string;
}
export type Answer = Reply | Longer;

/** `allowed`: it was seen whole, or need not be. */
export function answers(request: Permission, allowed: boolean): Answer[] {
  const reply = (title: string, reply_: PermissionReply): Answer => ({ kind: "reply", title, reply: reply_ });
  const grants = request.grants.map(({ id, covers }) =>
    reply(grantWords(request, covers), { outcome: "allow", grant: id }),
  );
  const byHunk: Answer[] = request.edits?.length ? [{ kind: "hunks", title: "Decide Hunk by Hunk" }] : [];
  return [
    ...(allowed ? [reply("Allow This", { outcome: "allow" })] : []),
    reply("Reject", { outcome: "reject" }), // in sight in a narrow editor, too
    ...(allowed ? grants : []),
    { kind: "because", title: "Reject, Because ..." },
    ...byHunk,
    reply("Cancel the Turn", { outcome: "cancelled" }),
  ];
}
