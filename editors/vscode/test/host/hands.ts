/** User actions that the driver in Python performs (tests/editors/vscode/test_host.py). */

export const hands = {
  /** Types into the open box, then Enter. `title`: the title of the box, if another one is open before it. */
  answer: (text: string, title = "") => ask({ do: "answer", text, title }),
  /** Types into the box below the selected lines, once it shows a text, then presses the key. */
  inline: (text: string, key = "Enter", shown = "") => ask({ do: "inline", text, key, shown }),
  /** Chooses a row of the open list. */
  choose: (text: string) => ask({ do: "choose", text }),
  /** Types into the open box. */
  type: (text: string) => ask({ do: "type", text }),
  press: (key: string) => ask({ do: "press", text: key }),
  /** Waits for a notification with this text. */
  sees: (text: string) => ask({ do: "sees", text }),
  /** Clears the list of notifications. */
  clear: () => ask({ do: "clear" }),
  /** Waits for a notification with this text. Fails if there is another one. */
  seesOnly: (text: string) => ask({ do: "seesOnly", text }),
  /** Clicks a button of the notification with this text. */
  clicks: (text: string, button: string) => ask({ do: "clicks", text, button }),
  /** Waits for an element, by its selector. */
  shows: (selector: string) => ask({ do: "shows", text: selector }),
};

export interface Result {
  readonly file: string;
  readonly title: string;
  readonly problem: string;
}

export const tell = (result: Result): Promise<void> => ask({ do: "result", ...result });

/** Resolves when the action is done. Rejects with the problem. */
async function ask(step: object): Promise<void> {
  const url = `http://127.0.0.1:${process.env["TARK_TEST_HANDS"] ?? ""}/`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(step) });
  const problem = await answer.text();
  if (problem !== "") {
    throw new Error(problem);
  }
}
