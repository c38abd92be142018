/**
 * Runs the keys that edit a text field at once.
 *
 * VS Code takes these keys from a web page and runs them later, from its own process. What the user typed meanwhile would
 * be selected and replaced, or undone. VS Code listens on the window, so the page can handle a key first and stop it.
 * *Paste* loses nothing, and pages may not paste, so VS Code does it.
 */

const KEYS: Readonly<Record<string, string>> = { a: "selectAll", z: "undo", "shift+z": "redo", y: "redo", x: "cut", c: "copy" };
/** If the page may not do these, VS Code does them. */
const CLIPBOARD: readonly string[] = ["cut", "copy"];
const FIELD = "textarea, input:not([type]), input[type=text], input[type=search]";

/** @param isMac the keys are with Cmd; Ctrl has other meanings there */
export function runEditingKeys(body: HTMLElement, isMac: boolean): void {
  body.addEventListener("keydown", (event) => {
    const command = editingCommand(event, isMac);
    if (command === undefined || !(event.target as Element).matches(FIELD)) {
      return;
    }
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else does it in steps that the browser can undo
    const isDone = document.execCommand(command);
    if (isDone || !CLIPBOARD.includes(command)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
}

function editingCommand(event: KeyboardEvent, isMac: boolean): string | undefined {
  const [held, other] = isMac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey, event.metaKey];
  if (!held || other || event.altKey || event.isComposing) {
    return undefined;
  }
  // On a keyboard with another alphabet, the position of the key decides.
  const letter = /^[a-z]$/i.test(event.key) ? event.key.toLowerCase() : event.code.replace(/^Key/, "").toLowerCase();
  const name = `${event.shiftKey ? "shift+" : ""}${letter}`;
  return Object.hasOwn(KEYS, name) ? KEYS[name] : undefined;
}
