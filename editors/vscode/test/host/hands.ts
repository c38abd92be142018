/** What only a person at the screen can do, done by the driver in Python (tests/editors/vscode/test_host.py). */

export const hands = {
  /** Into the box that is open, and Enter. `title`: of the box, where another one is open before it. */
  answer: (text: string, title = "") => ask({ do: "answer", text, title }),
  /** The row of the list that is open. */
  choose: (text: string) => ask({ do: "choose", text }),
  /** Into the box that is open. */
  type: (text: string) => ask({ do: "type", text }),
  press: (key: string) => ask({ do: "press", text: key }),
  /** A notification says so. */
  sees: (text: string) => ask({ do: "sees", text }),
  /** A button of the notification that says so. */
  clicks: (text: string, button: string) => ask({ do: "clicks", text, button }),
  /** Something is to be seen in the window, by its selector. */
  shows: (selector: string) => ask({ do: "shows", text: selector }),
};

export interface Result {
  readonly file: string;
  readonly title: string;
  readonly problem: string;
}

export const tell = (result: Result): Promise<void> => ask({ do: "result", ...result });

/** Done once it is done; fails with what kept it from being done. */
async function ask(step: object): Promise<void> {
  const url = `http://127.0.0.1:${process.env["TARK_TEST_HANDS"] ?? ""}/`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(step) });
  const problem = await answer.text();
  if (problem !== "") {
    throw new Error(problem);
  }
}
