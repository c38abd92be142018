/** Draws a question of the model or of Tark: options, checkboxes, or a text field. */

import type { InputRow } from "../messages";
import { button, h } from "./element";
import { chatProse, plainLine } from "../../text/surfaces";
import type { RequestContext } from "./requestContext";

export function questionElement(asking: RequestContext, { requestId, question, options, multiple, freeText, byModel }: InputRow): HTMLElement {
  const answer = (words: readonly string[] | string | null): void => asking.answer({ kind: "input", requestId, answer: words });
  const field = h("textarea", { rows: 2, "aria-label": "Your answer", placeholder: "Your answer" });
  field.value = asking.typed.words;
  const boxes = multiple ? options.map(({ id }) => h("input", { type: "checkbox", value: id })) : [];
  const ticked = (): string[] => boxes.filter((box) => box.checked).map((box) => box.value);
  for (const box of boxes) {
    box.checked = asking.typed.ticks.includes(box.value);
  }
  for (const control of [field, ...boxes]) {
    control.addEventListener("input", () => asking.keep({ words: field.value, ticks: ticked() }));
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
  const choices = multiple ? [] : options.map(({ id, label }) => button(plainLine(label), () => answer([id])));
  return h(
    "div",
    { class: "row input", role: "group", "aria-label": byModel === true ? "Question from the model" : "Question from Tark" },
    h("h3", {}, byModel === true ? "The model asks" : "Tark asks"),
    h("p", { class: "question" }, chatProse(question)),
    ...boxes.map((box, index) => h("label", { class: "option" }, box, plainLine(options[index]!.label))),
    h("div", { class: "buttons" }, ...choices, ...(boxes.length > 0 ? [button("Answer", () => answer(ticked()), { class: "main" })] : [])),
    ...(freeText ? [h("div", { class: "own" }, field, h("div", { class: "buttons" }, button("Send Answer", send)))] : []),
    h("div", { class: "buttons" }, button("Decline to Answer", () => answer(null))),
  );
}
