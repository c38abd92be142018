import assert from "node:assert/strict";
import { test } from "node:test";
import { addressUser, afterPrefix, sentenceCase, withoutField } from "../../src/text/serverWords";

test("an error message does not show the field that is wrong", () => {
  const rows = [
    ["sessionId: a turn of this session is running", "a turn of this session is running"],
    ["hunkIds, uri or turnId: name what to decide", "name what to decide"],
    ["path: /a: b.json exists already", "/a: b.json exists already"],
    ["/a/path: no such file", "/a/path: no such file"],
    ["not started: no model is set", "not started: no model is set"],
  ] as const;
  for (const [message, shown] of rows) {
    assert.equal(withoutField(message), shown);
  }
});

test("a reason is addressed to the user", () => {
  assert.equal(addressUser("hunkIds: the person undid it"), "you undid it");
});

test("a sentence after the prefix begins in lower case, unless with a name", () => {
  assert.equal(afterPrefix("The key of OpenAI is saved."), "the key of OpenAI is saved.");
  assert.equal(afterPrefix("OpenAI lists no model."), "OpenAI lists no model.");
  assert.equal(sentenceCase("the server is starting"), "The server is starting");
});
