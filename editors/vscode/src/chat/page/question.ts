/** A question, of the model or of Tark itself, answered by an option, by several, or by own words. */

import type { InputRow } from "../messages";
import { button, h } from "./element";
import { oneLine, prose } from "./prose";
import type { Asking } from "./waiting";

export function questionElement(asking: Asking, { requestId, question, options, multiple, freeText, byModel }: InputRow): HTMLElement {
  const answer = (words: readonly string[] | string | null): void => asking.answer({ kind: "input", requestId, answer: words });
  const field = h("textarea", { rows: 2, "aria-label": "Your own words", placeholder: "Your own words" });
  field.value = asking.typed.words;
  const boxes = multiple ? options.map(({ id }) => h("input", { type: "checkbox", value: id })) : [];
  const ticked = (): string[] => boxes.filter((box) => box.checked).map((box) => box.value);
  for (const box of boxes) {
    box.checked = asking.typed.ticks.includes(box.value);
  }
  for (const each of [field, ...boxes]) {
    each.addEventListener("input", () => asking.keep({ words: field.value, ticks: ticked() }));
  }
  const send = (): void => {
    if (field.value.trim() !== "") {
      answer(field.value.trim());
    }
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    }
  });
  const choices = multiple ? [] : options.map(({ id, label }) => button(oneLine(label), () => answer([id])));
  return h(
    "div",
    { class: "row input", role: "group", "aria-label": byModel === true ? "Question of the model" : "Question of Tark" },
    h("h3", {}, byModel === true ? "The model asks" : "Tark asks"),
    h("p", { class: "question" }, prose(question)),
    ...boxes.map((box, index) => h("label", { class: "option" }, box, oneLine(options[index]!.label))),
    h("div", { class: "buttons" }, ...choices, ...(boxes.length > 0 ? [button("Answer", () => answer(ticked()), { class: "main" })] : [])),
    ...(freeText ? [h("div", { class: "own" }, field, h("div", { class: "buttons" }, button("Send these words", send)))] : []),
    h("div", { class: "buttons" }, button("Do not answer", () => answer(null))),
  );
}
