/** Several chats, each with a session of its own: which one is shown, and which one commands are about. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Outbox } from "../../src/chat/outbox";
import { Place } from "../../src/model/place";
import { State } from "../../src/model/state";
import { newTranscript } from "../../src/model/transcript";
import { Updates } from "../../src/model/updates";

function twoChats() {
  const state = new State();
  const [one, other] = [state.place, new Place()];
  state.places.add(other);
  return { state, one, other };
}

test("each chat shows its own session; commands are about that of the chat that was used last", () => {
  const { state, one, other } = twoChats();
  state.setCurrentSession("a");
  state.setCurrentSession("b", other);
  assert.deepEqual([one.sessionId, other.sessionId, state.sessionId], ["a", "b", "a"]);
  state.usePlace(other);
  assert.equal(state.sessionId, "b");
  state.setCurrentSession(undefined);
  assert.deepEqual([one.sessionId, other.sessionId], ["a", undefined]);
});

test("a session that is open in one chat is shown there, not twice", () => {
  const { state, one, other } = twoChats();
  let revealed = 0;
  state.on("reveal", () => (revealed += 1));
  state.setCurrentSession("a");
  state.usePlace(other);
  state.setCurrentSession("b");
  assert.equal(revealed, 0);
  state.setCurrentSession("a");
  assert.deepEqual([revealed, state.place === one, other.sessionId], [1, true, "b"]);
});

test("the transcripts of all chats are kept, those of no chat are dropped", () => {
  const { state, other } = twoChats();
  for (const id of ["a", "b", "c"]) {
    state.transcripts.set(id, newTranscript(id));
  }
  other.show("b");
  state.setCurrentSession("a");
  assert.deepEqual([...state.transcripts.keys()], ["a", "b"]);
});

test("when a chat is closed, the other one is used; a deleted session is shown nowhere", () => {
  const { state, one, other } = twoChats();
  state.usePlace(other);
  state.setCurrentSession("b");
  state.removePlace(other, one);
  assert.equal(state.place, one);
  state.setCurrentSession("b");
  new Updates(state, String, () => undefined).removeSession("b");
  assert.equal(state.sessionId, undefined);
});

test("a prompt of a new chat starts a session there, also if another chat is used meanwhile", async () => {
  const { state, one, other } = twoChats();
  const box = (place: Place): Outbox =>
    new Outbox(
      {
        state,
        place,
        takeContext: () => ({ attached: [] }),
        start: async (prompt, sessionId) => {
          const { visit } = place;
          await new Promise((resolve) => setImmediate(resolve));
          const started = sessionId ?? `of ${prompt}`;
          state.followPrompt(place, visit, sessionId, started); // as turns/turns.ts does
          return { sessionId: started, turnId: "t" };
        },
        newSession: () => Promise.reject(new Error("nobody went elsewhere")),
        steer: () => Promise.resolve(false),
        forkBefore: () => Promise.resolve(""),
      },
      () => undefined,
      () => assert.fail("refused"),
    );
  const [first, second] = [box(one), box(other)];
  first.addMessage({ words: "A" });
  state.usePlace(other);
  second.addMessage({ words: "B" });
  state.usePlace(one);
  assert.deepEqual([first.heads.length, second.heads.length], [1, 1]);
  while (first.heads.length + second.heads.length > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual([one.sessionId, other.sessionId], ["of A", "of B"]);
});
