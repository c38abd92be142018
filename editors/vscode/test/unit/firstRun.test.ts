/** What has to be set up, what is said about errors, and when failed turns are tried again. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { open, pause } from "./opened";
import type { ToPage, TurnHead } from "../../src/chat/messages";
import { runSetupChoice } from "../../src/chat/setupChoice";
import { Retries } from "../../src/chat/retries";
import type { EffectiveSettings } from "../../src/model/protocol";
import { State } from "../../src/model/state";
import { turnProblem } from "../../src/model/turnProblems";
import { checkWords, keyMessage, modelOffers, type ProviderStatus, serverView } from "../../src/setup/offers";
import { providerRows, takesKey } from "../../src/setup/providerRows";
import { doctorPage } from "../../src/status/doctorPage";
import type { DoctorFacts } from "../../src/status/reportText";
import { TurnStarts } from "../../src/turns/starts";
import { providerName } from "../../src/text/providerNames";
import { HOSTILE_TEXT } from "./hostileText";

const missing = (provider: string, more: Partial<ProviderStatus> = {}): ProviderStatus => ({ provider, status: "missing", source: "", hint: "run `tark-lsp login`", variables: [`${provider}_KEY`], login: false, ...more });
const COPILOT = missing("copilot");

test("every error code of the protocol has a sentence of its own and a button", () => {
  const page = readFileSync("../../docs/protocol.md", "utf8");
  const codes = /`error\.code` is one of `([^`]+)`/.exec(page)![1]!.split(/\s+/);
  assert.ok(codes.length > 15);
  for (const code of codes) {
    const { sentence, remedies } = turnProblem("error", code, "openai/gpt-6.1-sol")!;
    assert.match(sentence, /^[A-Z][^{}]+\.$/, code);
    assert.ok(remedies.length > 0, code);
    assert.notEqual(code === "invalid_params" ? "" : sentence, turnProblem("error", "no such code")!.sentence, code);
  }
});

test("a sentence names the provider and the model, if they are known", () => {
  assert.equal(turnProblem("error", "model_not_found", "openrouter/a/b")!.sentence, "OpenRouter does not offer a/b.");
  assert.equal(turnProblem("error", "model_not_found")!.sentence, "The provider does not offer the model.");
  assert.equal(turnProblem("error", "missing_key", "mine/m")!.sentence, "There is no key for mine.");
  assert.deepEqual(turnProblem("max_tokens", undefined)!.remedies, ["continue"]);
  assert.equal(turnProblem("end_turn", undefined), undefined);
  assert.equal(turnProblem("cancelled", undefined), undefined);
});

test("the card offers what was found, the best first", () => {
  const found = [missing("openai", { status: "ready", source: "OPENAI_KEY", variables: ["OPENAI_KEY"] }), missing("anthropic", { status: "ready", source: "the keyring" }), COPILOT];
  const offers = modelOffers(found, [], "ollama/qwen3:8b");
  assert.deepEqual(offers.map(({ id }) => id), ["use:anthropic", "use:openai", "use:ollama", "paste", "demo", "copilotHelp"]);
  assert.deepEqual(offers.map(({ note }) => note).slice(0, 3), ["Key from the keyring", "Key found in OPENAI_KEY", "qwen3:8b, on this machine"]);
  assert.equal(modelOffers(found, ["OPENAI_KEY"], undefined)[1]!.note, "Key stored in VS Code");
});

test("a row of the card that gives the chat a model says which one, and focuses the prompt", async () => {
  const settings = (model: string): EffectiveSettings => ({ approval: "careful", mode: "build", model });
  const posted = async (before: string, after: string): Promise<ToPage[]> => {
    const state = new State();
    state.settings = settings(before);
    const messages: ToPage[] = [];
    await runSetupChoice(state, () => Promise.resolve(void (state.settings = settings(after))), (message) => messages.push(message));
    return messages;
  };
  assert.deepEqual(await posted("", "openrouter/gpt"), [{ kind: "say", words: "The model is now openrouter/gpt. You can change it below the prompt." }, { kind: "focus" }]);
  assert.deepEqual(await posted("", ""), [], "a refused key");
  assert.deepEqual(await posted("a/b", "a/b"), []);
});

test("without anything, a key can be pasted; a login is offered only if it can work", () => {
  assert.deepEqual(modelOffers([missing("openai"), COPILOT], [], undefined).map(({ id }) => id), ["paste", "demo", "copilotHelp"]);
  assert.deepEqual(modelOffers([{ ...COPILOT, login: true }], [], undefined).map(({ id }) => id), ["paste", "copilot", "demo"]);
  assert.deepEqual(modelOffers([{ ...COPILOT, status: "ready", source: "COPILOT_GITHUB_TOKEN" }], [], undefined).map(({ id }) => id), ["use:copilot", "paste", "demo"]);
  assert.ok(!JSON.stringify(modelOffers([missing("openai"), COPILOT], [], undefined)).includes("tark-lsp login"));
});

test("a checked key: what is said", () => {
  assert.equal(checkWords("openai", { result: "accepted", message: "", model: "openai/m" }), undefined);
  assert.equal(checkWords("openai", { result: "refused", message: "401" })!.words, "OpenAI does not accept this key. It was not saved.");
  assert.deepEqual(checkWords("openai", { result: "unchecked", message: "no connection" }), { words: "The key of OpenAI is saved, but not checked.", details: "no connection" });
  assert.equal(checkWords("ollama", { result: "accepted", message: "" })!.words, "Ollama lists no model.");
});

test("a key that was set with the command: one message; a refused key can be entered again", () => {
  const message = (result: "accepted" | "refused" | "unchecked", more: string, model?: string): unknown[] => Object.values(keyMessage("openai", { result, message: more, model }));
  assert.deepEqual(message("accepted", "", "openai/m"), ["OpenAI accepts the API key.", false, []]);
  assert.deepEqual(message("refused", "the provider refused (HTTP 401)"), ["OpenAI does not accept this key. It was not saved.", true, ["Try Again"]]);
  assert.deepEqual(message("unchecked", "no connection"), ["The key of OpenAI is saved, but not checked: no connection", true, []]);
  assert.deepEqual(message("accepted", ""), ["OpenAI lists no model.", true, []]);
});

test("the list of providers: the order of the set-up card, then by name; what needs no key is last", () => {
  const local = (provider: string, variables: string[]): ProviderStatus => missing(provider, { status: "unneeded", variables });
  const names = ["vllm", "xai", "chutes", "llamacpp", "copilot", "openrouter", "deepseek", "ollama", "gemini", "openai", "anthropic"];
  const providers = names.map((name) => (["vllm", "llamacpp", "ollama"].includes(name) ? local(name, ["A_KEY"]) : missing(name)));
  assert.deepEqual(
    providerRows(providers).map(({ label }) => label),
    ["Anthropic", "OpenAI", "Gemini", "OpenRouter", "GitHub Copilot", "Chutes", "DeepSeek", "xAI", "llama.cpp", "Ollama", "vLLM"],
  );
  assert.equal(providerRows(providers).at(-1)!.description, "no key needed");
  assert.deepEqual([local("a", []), local("b", ["B_KEY"]), missing("mine", { variables: [] })].map(takesKey), [false, true, true]);
});

test("every provider of the server has a name in its own spelling", () => {
  const files = readdirSync("../../tark_lsp/llm/providers").filter((name) => /^[a-z]+\.py$/.test(name));
  const providers = files.map((name) => name.slice(0, -".py".length)).filter((name) => name !== "compatible" && name !== "scripted");
  assert.ok(providers.length > 10);
  assert.deepEqual(providers.filter((name) => providerName(name) === name), []);
});

test("a server that is missing can be installed; one that did not start can be started", () => {
  assert.deepEqual(serverView("x", true).offers.map(({ id }) => id), ["install", "output"]);
  assert.deepEqual(serverView("x", false).offers.map(({ id }) => id), ["start", "output"]);
});

test("a turn is tried again by itself only if the user wants to wait", async () => {
  const again: string[] = [];
  const changed: string[] = [];
  let now = 0;
  const retries = new Retries((turnId) => again.push(turnId), (turnId) => changed.push(turnId), () => now);
  retries.recordEnd({ turnId: "a", error: { code: "rate_limited", message: "", hint: "", retryAfter: 0.03 } });
  retries.recordEnd({ turnId: "b", error: { code: "rate_limited", message: "", hint: "", retryAfter: 0.03 } });
  retries.recordEnd({ turnId: "c", error: { code: "timeout", message: "", hint: "" } });
  assert.equal(retries.viewOf("a")!.waits, false);
  assert.equal(retries.viewOf("c"), undefined);
  retries.toggleWait("a");
  retries.toggleWait("b");
  assert.equal(retries.viewOf("b")!.waits, true);
  retries.toggleWait("b");
  await pause(60);
  while (again.length === 0) {
    await pause(5); // the machine is busy
  }
  assert.deepEqual(again, ["a"]);
  now = 30;
  assert.equal(retries.viewOf("a"), undefined);
  assert.equal(retries.viewOf("b"), undefined, "the time is over");
  assert.deepEqual(changed, ["a", "b", "b", "a"]);
});

test("the latest turns can be started again with their place", () => {
  const starts = new TurnStarts();
  for (let number = 0; number < 60; number += 1) {
    starts.addStart({ sessionId: "s", turnId: `t${number}` }, { prompt: `p${number}`, kind: "edit", range: number });
  }
  assert.equal(starts.startOf("t3"), undefined);
  assert.deepEqual(starts.startOf("t59"), { prompt: "p59", kind: "edit", range: 59, sessionId: "s" });
});

const FAILED: TurnHead = { turnId: "t", state: "ended", prompt: "p", model: "openai/m", stopReason: "error", error: { code: "rate_limited", message: "slow down", hint: "wait" } };

function transcript(head: TurnHead): ToPage {
  return { kind: "transcript", transcript: { sessionId: "s", earlier: false, turns: [{ head, blocks: [] }] }, sending: [] };
}

test("an error is a card: a sentence, buttons, and the server's words in details", async () => {
  const page = open();
  await page.give(transcript({ ...FAILED, retry: { at: Date.now() + 12_000, waits: false } }));
  assert.deepEqual(page.all(".card button").map(({ textContent }) => textContent), ["Retry", "Wait 12 s", "Select Model"]);
  assert.equal(page.one(".card").getAttribute("aria-label"), "OpenAI got too many requests.");
  assert.equal((page.one(".card details") as HTMLDetailsElement).open, false);
  page.all(".card button").forEach((button) => button.click());
  assert.deepEqual(page.told.slice(-3), [
    { kind: "again", turnId: "t", how: "retry" },
    { kind: "wait", turnId: "t" },
    { kind: "remedy", turnId: "t", remedy: "chooseModel" },
  ]);
  await page.give(transcript({ ...FAILED, retry: { at: Date.now() - 1, waits: false } }));
  assert.ok(page.all(".card button").some((button) => button.hidden));
});

test("a turn that has done something is continued; a key is set for its provider", async () => {
  const page = open();
  await page.give(transcript({ ...FAILED, worked: true, error: { ...FAILED.error!, code: "authentication" } }));
  assert.deepEqual(page.all(".card button").map(({ textContent }) => textContent), ["Set API Key", "Select Model", "Continue"]);
  page.all(".card button")[0]!.click();
  page.all(".card button")[2]!.click();
  assert.deepEqual(page.told.slice(-2), [{ kind: "remedy", turnId: "t", remedy: "setKey", provider: "openai" }, { kind: "again", turnId: "t", how: "continue" }]);
});

test("a cut answer offers to continue", async () => {
  const page = open();
  await page.give(transcript({ turnId: "t", state: "ended", prompt: "p", stopReason: "max_tokens" }));
  assert.deepEqual(page.all(".card button").map(({ textContent }) => textContent), ["Continue"]);
  assert.equal(page.all(".card details").length, 0);
});

test("the set-up card is only in an empty chat, and shows the prompt that waits", async () => {
  const page = open();
  const view = { title: "Set up a model", words: "w", isProblem: false, offers: [{ id: "paste", label: "Paste API Key…" }, { id: "demo", label: "Try the Demo" }] };
  const sending: TurnHead = { turnId: "sending1", state: "sending", prompt: "hello" };
  await page.give({ kind: "setup", setup: view });
  assert.deepEqual(page.all(".setup button").map(({ className }) => className), ["main", ""]);
  page.all(".setup button")[1]!.click();
  assert.deepEqual(page.told.at(-1), { kind: "setup", offer: "demo" });
  await page.give({ kind: "sending", turns: [sending] });
  assert.match(page.one(".setup .waits").textContent, /“hello”/);
  await page.give({ kind: "setup", setup: { ...view, busy: "Checking…" } });
  assert.ok(page.all(".setup li button").every((button) => button.hasAttribute("disabled")));
  await page.give(transcript(FAILED));
  assert.ok(page.one(".setup").hidden);
});

test("the doctor's first problem is a missing model, with buttons; nothing of its text is markup", () => {
  const around = { extension: "1", editor: "e", trusted: true };
  const facts: DoctorFacts = {
    ...{ version: "1", missing: [], policy: { mode: "build", approval: "careful", editReview: "ask" }, sandbox: { available: false } },
    ...{ model: null, keys: [], folders: [], problems: ["no model is set", "sandbox: unknown value"] },
  };
  const page = doctorPage(facts, around, "n");
  assert.ok(page.indexOf("No model is set") < page.indexOf("Sandbox: unknown value"));
  assert.match(page, /href="command:tark\.client\.newSession">Set Up Model/);
  for (const { text } of [...HOSTILE_TEXT, { text: '"><script>x</script>&amp;' }]) {
    assert.deepEqual(doctorPage(text, { ...around, editor: text }, "n").match(/<script|<a (?!class="button)|&amp;/g), null);
  }
});
