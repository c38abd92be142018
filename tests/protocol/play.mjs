// Plays cases with the reducer of the VS Code extension: a case as a line of JSON in, what it makes as a line out
// (cases.py):  node play.mjs <folder with the two built modules>
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const { addQueuedTurn, addSteer, interrupt, newTranscript, reduce } = require(`${process.argv[2]}/transcript.js`);
const { fromSession } = require(`${process.argv[2]}/storedSession.js`);

function words(change) {
  if (change === undefined) {
    return null;
  }
  return change.block === undefined ? change.kind : `${change.kind} ${change.turn.blocks.indexOf(change.block)}`;
}

const STEPS = {
  update: (transcript, params) => [transcript, words(reduce(transcript, params))],
  asked: (transcript, { turnId, prompt }) => [transcript, words(addQueuedTurn(transcript, turnId, prompt))],
  steered: (transcript, { turnId, prompt }) => [transcript, words(addSteer(transcript, turnId, prompt))],
  interrupted: (transcript) => {
    interrupt(transcript);
    return [transcript, null];
  },
  opened: (_, answer) => [fromSession(answer), null],
};

const INDEXES = new Set(["byId", "calls", "listed"]);

for await (const line of createInterface({ input: process.stdin })) {
  const { sessionId, steps } = JSON.parse(line);
  let transcript = newTranscript(sessionId);
  const changes = [];
  for (const step of steps) {
    const [name] = Object.keys(step);
    const [after, change] = STEPS[name](transcript, step[name]);
    transcript = after;
    changes.push(change);
  }
  console.log(JSON.stringify({ transcript, changes }, (key, value) => (INDEXES.has(key) ? undefined : value)));
}
