/** The text of reports. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { contextReport } from "../../src/status/reportText";

test("the context report", () => {
  const parts = [
    { name: "system prompt", tokens: 1200 },
    { name: "messages", tokens: 1, messages: 1 },
  ];
  assert.equal(
    contextReport("“Tidy up”", { parts, tokens: 1201, contextWindow: 200_000, limit: 160_000 }),
    `What is sent with the next prompt of “Tidy up”

  system prompt  1200 tokens
  messages       1 token · 1 message
  all            1201 tokens

The model's context window has 200k tokens.
Older messages are summarized beyond 160k tokens; "Tark: Compact Session" does it now.
`,
  );
});
