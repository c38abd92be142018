/** The rows of the model picker. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Group, modelFacts, nearModels, pickerGroups, type PickerState } from "../../src/pickers/modelRows";

const MODELS = ["openai/gpt-5.5", "openai/gpt-5.5-mini", "anthropic/claude-opus-5"].map((id) => ({ id }));
const STATE: PickerState = { typed: "", current: "openai/gpt-5.5", providers: ["anthropic", "openai", "own"], models: MODELS, problems: [], loading: [] };

function shown(state: Partial<PickerState>): string[] {
  const lines = ({ title, rows }: Group): string[] => [`# ${title}`, ...rows.map(({ label, description }) => (description === undefined ? label : `${label} (${description})`))];
  return pickerGroups({ ...STATE, ...state }).flatMap(lines);
}

const SET_UP = ["# providers", "$(add) Set Up Another Provider…"];

test("models are grouped by provider, and the current one is marked", () => {
  assert.deepEqual(shown({}), ["# openai", "openai/gpt-5.5 ($(check) current)", "openai/gpt-5.5-mini", "# anthropic", "anthropic/claude-opus-5", ...SET_UP]);
});

test("while the lists load, the current model is there", () => {
  const current = ["# openai", "openai/gpt-5.5 ($(check) current)", "# providers"];
  assert.deepEqual(shown({ models: [], providers: undefined }), [...current, "$(loading~spin) Loading models…", "$(add) Set Up Another Provider…"]);
  assert.deepEqual(shown({ models: [], loading: ["openai", "own"] }), [...current, "$(loading~spin) Loading models… (openai, own)", "$(add) Set Up Another Provider…"]);
});

test("a provider that fails, and a server that does not run, are rows that try again", () => {
  const [{ rows } = { rows: [] }] = pickerGroups({ ...STATE, current: "", models: [], problems: [{ provider: "own", why: "it refused $(x)" }, { why: "the server has ended" }, { provider: "ollama", why: "refused", isQuiet: true }] });
  assert.deepEqual(rows.slice(0, 2), [
    { label: "$(warning) own could not be listed", description: "try again", detail: "it refused \\$(x)", action: { kind: "retry" }, always: true },
    { label: "$(warning) The models could not be listed", description: "try again", detail: "the server has ended", action: { kind: "retry" }, always: true },
  ]);
});

test("without any model, a row says what to do", () => {
  assert.deepEqual(shown({ models: [], current: "" }), ["# providers", "$(info) No provider lists a model", "$(add) Set Up Another Provider…"]);
});

test("an unknown provider is refused", () => {
  const [{ rows } = { rows: [] }] = pickerGroups({ ...STATE, typed: "opennai/gpt-5.5" });
  assert.deepEqual(rows, [{ label: "$(error) There is no provider “opennai”", detail: "The providers are anthropic, openai, own", action: { kind: "none" }, always: true }]);
});

test("a name that its provider does not list gets similar names, and can be used anyway", () => {
  assert.deepEqual(shown({ typed: " openai/gtp-5.5 " }).slice(0, 3), ["# similar names", "openai/gpt-5.5 ($(check) current)", "Use Anyway (openai/gtp-5.5)"]);
  assert.deepEqual(shown({ typed: "openai/a-secret-preview" }).slice(0, 2), ["# name as typed", "Use Anyway (openai/a-secret-preview)"]);
  const labels = shown({ typed: "openai/gtp-5.5" });
  assert.equal(labels.filter((label) => label.startsWith("openai/gpt-5.5 ")).length, 1, "a similar name is not listed twice");
});

test("a name of a provider without a list is accepted, and the row says that it is not checked", () => {
  const [{ rows } = { rows: [] }] = pickerGroups({ ...STATE, typed: "own/big" });
  assert.deepEqual(rows, [{ label: "Use own/big", detail: "The name is not checked; own is not listed", action: { kind: "use", id: "own/big" }, always: true }]);
  const detail = (state: Partial<PickerState>): string | undefined => pickerGroups({ ...STATE, typed: "own/big", ...state })[0]?.rows[0]?.detail;
  assert.equal(detail({ providers: undefined, models: [] }), "The name is not checked; own is still being listed");
  assert.equal(detail({ loading: ["own"] }), "The name is not checked; own is still being listed");
  assert.equal(detail({ problems: [{ provider: "own", why: "no answer", isQuiet: true }] }), "The name is not checked; own is not listed: no answer");
  assert.equal(detail({ typed: "scripted/other", current: "scripted/demo" }), "The name is not checked; scripted is not listed");
});

test("a listed name, a part of a name, and words add no rows", () => {
  for (const typed of ["openai/gpt-5.5", "gpt", "openai/", "/gpt", "two words/x y"]) {
    assert.deepEqual(shown({ typed }), shown({}), typed);
  }
});

test("the names that differ least come first, at most three", () => {
  const models = ["p/model-a", "p/model-b", "p/model-ab", "p/model-abc", "p/other"].map((id) => ({ id }));
  assert.deepEqual(nearModels("p/model-ab1", models).map(({ id }) => id), ["p/model-ab", "p/model-abc", "p/model-a"]);
});

test("the facts of a model", () => {
  const price = { input: 1.25, output: 10 };
  assert.equal(modelFacts({ id: "a/b", name: "B", contextWindow: 400_000, price, thinking: true, images: true, tools: true }), "B · 400k window · $1.25 in, $10 out per 1M tokens · thinking, images");
  assert.equal(modelFacts({ id: "a/b", name: "b", price: { input: 0, output: 0 }, tools: false }), "no cost · no native tools");
  assert.equal(modelFacts({ id: "a/b" }), "");
});
