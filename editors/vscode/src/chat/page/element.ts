/** Creates the elements of the page. Text is never parsed as HTML. */

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** `true` sets an attribute without a value; `false` and undefined omit it. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    setAttribute(element, key, value);
  }
  element.append(...children);
  return element;
}

/** Changes the page only if the value differs, because screen readers announce changes. */
export function setAttribute(element: Element, key: string, value: string | number | boolean | undefined): void {
  if (value === undefined || value === false) {
    element.removeAttribute(key);
  } else if (element.getAttribute(key) !== (value === true ? "" : String(value))) {
    element.setAttribute(key, value === true ? "" : String(value));
  }
}

export function setText(element: Element, words: string): void {
  if (element.textContent !== words) {
    element.textContent = words;
  }
}

export function button(words: string, does: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", does);
  return made;
}
