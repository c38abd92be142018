/**
 * The keys of the buttons *Allow* and *Reject* of a permission request. They press the button, so the limits of a click
 * apply: no button works right after the request appeared, and *Allow* works only after the end of the request was seen.
 */

const QUIET_MS = 1000; // after text was in the prompt: the same key sends it, and the user may press it twice
const OTHER_KEYS = "input, textarea, select, button, a, summary"; // these elements handle these keys themselves

export interface AnswerKey {
  /** The attributes of the button. `data-keys` is what its tooltip says. */
  readonly "data-key": string;
  readonly "data-keys": string;
  readonly "aria-keyshortcuts": string;
}

export function answerKey(key: "Enter" | "Backspace", isMac: boolean): AnswerKey {
  return { "data-key": key, "data-keys": isMac ? `⌘${key}` : `Ctrl+${key}`, "aria-keyshortcuts": `${isMac ? "Meta" : "Control"}+${key}` };
}

/** Of the requests in `requests`, only the first is visible. If the prompt has text, these keys belong to the prompt. */
export function runAnswerKeys(body: HTMLElement, requests: HTMLElement, isMac: boolean): void {
  let typedAt = -QUIET_MS;
  body.addEventListener(
    "keydown",
    (event) => {
      const target = event.target as HTMLElement;
      const isPrompt = target.id === "prompt";
      if (isPrompt && (target as HTMLTextAreaElement).value !== "") {
        typedAt = performance.now();
        return;
      }
      const isOther = !isPrompt && target.closest(OTHER_KEYS) !== null;
      const buttons = requests.querySelector(".row")?.querySelectorAll<HTMLElement>(":scope > .buttons > [data-key]") ?? [];
      const button = [...buttons].find(({ dataset }) => dataset["key"] === event.key);
      if (!isOther && isAnswer(event, isMac) && performance.now() - typedAt >= QUIET_MS && button) {
        event.preventDefault();
        event.stopPropagation();
        button.click();
      }
    },
    true,
  );
}

function isAnswer(event: KeyboardEvent, isMac: boolean): boolean {
  const [held, other] = isMac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey, event.metaKey];
  return held && !other && !event.altKey && !event.shiftKey && !event.repeat && !event.isComposing;
}
