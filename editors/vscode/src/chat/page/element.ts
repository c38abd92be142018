/** Elements of the page are made here, of names and texts: no text is ever read as HTML. */

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** `true` sets an attribute without a value; `false` and undefined leave it out. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    set(element, key, value);
  }
  element.append(...children);
  return element;
}

/** Touches the page only where it is different: it may be read aloud. */
export function set(element: Element, key: string, value: string | number | boolean | undefined): void {
  if (value === undefined || value === false) {
    element.removeAttribute(key);
  } else if (element.getAttribute(key) !== (value === true ? "" : String(value))) {
    element.setAttribute(key, value === true ? "" : String(value));
  }
}

export function say(element: Element, words: string): void {
  if (element.textContent !== words) {
    element.textContent = words;
  }
}

export function button(words: string, does: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", does);
  return made;
}
