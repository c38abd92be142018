/** Code actions of the server on problems. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutOffered } from "../../src/server/problemKinds";

function action(kind: string, prompt = "", command = "tark.turn.start"): { command: { command: string; arguments: unknown[] } } {
  return { command: { command, arguments: [{ kind, prompt }] } };
}

test("on a problem, Fix and Explain are not offered twice; elsewhere they are", () => {
  const [fix, explain, test_, said, accept] = [action("fix"), action("explain"), action("test"), action("fix", "as the comment says"), action("fix", "", "tark.hunk.accept")];
  const all = [fix, explain, test_, said, accept, { command: "tark.turn.start", arguments: [{ kind: "fix", prompt: "" }] }, {}];
  assert.deepEqual(withoutOffered(all, [{ source: "pyright" }, { source: "tark" }]), [test_, said, accept, {}]);
  assert.deepEqual(withoutOffered(all, [{ source: undefined }]), [test_, said, accept, {}]);
  assert.deepEqual(withoutOffered(all, [{ source: "tark" }]), all);
  assert.deepEqual(withoutOffered(all, []), all);
});
