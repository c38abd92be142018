/** Reports as people read them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { contextReport } from "../../src/status/reportText";

test("what a prompt is sent with", () => {
  const parts = [
    { name: "system prompt", tokens: 1200 },
    { name: "messages", tokens: 1, messages: 1 },
  ];
  assert.equal(
    contextReport("“Tidy up”", { parts, tokens: 1201, contextWindow: 200_000, limit: 160_000 }),
    `What the next prompt of “Tidy up” is sent with

  system prompt  1200 tokens
  messages       1 token · 1 message
  all            1201 tokens

The model's window has 200k tokens.
Older messages are summed up beyond 160k; "Tark: Compact the Session" does it now.
`,
  );
});
