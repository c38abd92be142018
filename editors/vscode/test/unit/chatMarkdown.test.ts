import assert from "node:assert/strict";
import { test } from "node:test";
import { newPage, window } from "./dom";
import { HOSTILE } from "./hostile";
import { MarkdownView } from "../../src/chat/page/markdown";

const HARMLESS = new Set(
  "DIV P SPAN A BR HR EM STRONG S CODE PRE BLOCKQUOTE UL OL LI TABLE THEAD TBODY TR TH TD H3 H4 H5 H6 BUTTON".split(" "),
);
const ATTRIBUTES = new Set(["class", "role", "tabindex", "title", "type", "start", "aria-label", "aria-hidden", "hidden"]);

function drawn(text: string): { element: HTMLElement; page: ReturnType<typeof newPage> } {
  const page = newPage();
  const view = new MarkdownView(page);
  view.draw(text, true);
  return { element: view.element, page };
}

function html(text: string): string {
  return drawn(text).element.innerHTML;
}

HOSTILE.forEach((payload, index) => {
  test(`hostile payload ${index + 1} does nothing: ${JSON.stringify(payload.slice(0, 60))}`, () => {
    const { element, page } = drawn(payload);
    for (const child of element.querySelectorAll("*")) {
      assert.ok(HARMLESS.has(child.tagName), child.tagName);
      for (const { name } of child.attributes) {
        assert.ok(ATTRIBUTES.has(name), `${child.tagName} ${name}`);
      }
    }
    for (const link of element.querySelectorAll<HTMLElement>("[role=link]")) {
      link.click();
    }
    for (const told of page.told) {
      assert.ok(told.kind === "browse" || told.kind === "open", told.kind);
      assert.ok(told.kind !== "browse" || /^https:\/\/(evil|good)\.example\//.test(`${told.url}/`), JSON.stringify(told));
      assert.ok(told.kind !== "open" || !/^[a-z]{2,}:|^[/\\]{2}/i.test(told.path), JSON.stringify(told));
    }
    assert.doesNotMatch(element.textContent, /[\u202a-\u202e\u200b\u{e0000}-\u{e007f}]/u);
  });
});

test("no attribute can load anything", () => {
  for (const payload of HOSTILE) {
    assert.equal(drawn(payload).element.querySelectorAll("[href], [src], [srcset], [style], [action], [data]").length, 0);
  }
});

test("text that grows letter by letter is drawn like the whole text", () => {
  const text = [
    "# A title",
    "Words *with* `src/page.py:8` and https://example.org/a.",
    "- one\n- two\n\n  - deep\n\n3. three",
    "```python\ndef f(x):\n    return 1\n```",
    "| a | b |\n|--|--:|\n| 1 | 2 |",
    "Cited: <code=\"src/a.py\" #3:4>\nx = 1\ny = 2\n</code> and on.",
    "> quoted\n\nTitle\n=====\n\nthe end [here](src/b.py#L3-L5).",
  ].join("\n\n");
  const page = newPage();
  const view = new MarkdownView(page);
  for (let length = 1; length < text.length; length += 1) {
    view.draw(text.slice(0, length), false);
  }
  view.draw(text, true);
  assert.equal(view.element.innerHTML, html(text));
});

test("only the last block is redrawn", () => {
  const view = new MarkdownView(newPage());
  view.draw("First.\n\nSecond, which gr", false);
  const first = view.element.firstChild;
  view.draw("First.\n\nSecond, which grows.", false);
  assert.equal(view.element.firstChild, first);
  assert.equal(view.element.childNodes.length, 2);
});

test("the buttons of a code block stay while it grows", () => {
  const view = new MarkdownView(newPage());
  view.draw("```python\nx = 1\n", false);
  const copy = view.element.querySelector("button");
  view.draw("```python\nx = 1\ny = 2\n", false);
  assert.equal(view.element.querySelector("button"), copy);
  assert.equal(view.element.querySelector("code")?.textContent, "x = 1\ny = 2\n");
});

test("a block says what its file can be told from; while it grows it cannot be applied", () => {
  const page = newPage();
  const view = new MarkdownView(page);
  const apply = (): HTMLElement => view.element.querySelector<HTMLElement>("[aria-label^=Apply]")!;
  const text = "First.\n\nIn **src/x.py**:\n\n```py title=\"y.py\"\nx = 1\n";
  for (let end = 30; end <= text.length; end += 1) {
    view.draw(text.slice(0, end), false);
  }
  assert.equal(apply().hidden, true);
  view.draw(`${text}\`\`\`\n\n\`\`\`\nz\n\`\`\`\n`, true);
  assert.equal(apply().hidden, false);
  apply().click();
  const buttons = [...view.element.querySelectorAll("button")];
  buttons.at(-1)!.click();
  assert.deepEqual(page.told, [
    { kind: "apply", text: "x = 1\n", info: 'py title="y.py"', before: "In src/x.py:" },
    { kind: "newFile", text: "z\n", info: "", before: "" },
  ]);
  const names = ["Copy py", "Apply py to the file", "Insert py at the cursor", "Open py in a new file"];
  assert.deepEqual(buttons.slice(0, 4).map((button) => button.getAttribute("aria-label")), names);
});

test("code is copied as it is shown", () => {
  const { element, page } = drawn("```\nrm -rf \u202ex\n```");
  element.querySelector("button")?.click();
  assert.deepEqual(page.told, [{ kind: "copy", text: "rm -rf \\u{202e}x\n" }]);
});

test("links lead to files and their lines", () => {
  const { element, page } = drawn("See src/page.py:8-9, `lib/a.ts#L3`, [it](a%20b.py#L1-L2), @file:\"x y.py\":3 but not 12:30 or foo:10.");
  const links = [...element.querySelectorAll<HTMLElement>("[role=link]")];
  links.forEach((link) => link.click());
  assert.deepEqual(page.told, [
    { kind: "open", path: "src/page.py", first: 8, last: 9 },
    { kind: "open", path: "lib/a.ts", first: 3 },
    { kind: "open", path: "a b.py", first: 1, last: 2 },
    { kind: "open", path: "x y.py" },
  ]);
});

test("a link has its target as a tooltip", () => {
  const link = drawn("[https://good.example](https://evil.example/)").element.querySelector("a");
  assert.equal(link?.getAttribute("title"), "https://evil.example/");
});

test("heading levels do not skip one", () => {
  const { element } = drawn("#### deep\n\n# top\n\n###### six");
  assert.deepEqual(
    [...element.querySelectorAll("h1,h2,h3,h4,h5,h6")].map(({ tagName }) => tagName),
    ["H3", "H3", "H4"],
  );
});

test("the boxes of task lists are drawn, wherever they are in a list, and nowhere else", () => {
  const text = "- [x] find [y] it\n- [ ] **fix** it\n\n1. [X] loose\n\n2. [] no box\n\n   [ ] second paragraph\n\n[x] no list\n\n- [x]\n- `[x] code`\n- > [x] quote";
  const items = [...drawn(text).element.querySelectorAll("li")].map((item) => item.textContent.replace(/\s+/g, " ").trim());
  assert.deepEqual(items, ["☑ done: find [y] it", "☐ to do: fix it", "☑ done: loose", "[] no box[ ] second paragraph", "[x]", "[x] code", "[x] quote"]);
  assert.equal(drawn(text).element.querySelectorAll("li.task").length, 3);
});

test("highlighted code is the same code", () => {
  const { element } = drawn("```python\ndef f():\n  return 'x' # no\n```\n");
  assert.equal(element.querySelector("code")?.textContent, "def f():\n  return 'x' # no\n");
  assert.equal(element.querySelector(".hl-keyword")?.textContent, "def");
});

test("each new word redraws only the end of a long answer", () => {
  const view = new MarkdownView(newPage());
  const paragraphs = (): Element[] => [...view.element.querySelectorAll("p")];
  let text = "";
  for (let count = 0; count < 500; count += 1) {
    text += "A paragraph of some words with `code` in it.\n\n";
    view.draw(text, false);
  }
  const before = paragraphs().slice(0, -1);
  for (let count = 0; count < 50; count += 1) {
    text += "word ";
    view.draw(text, false);
  }
  assert.equal(before.length, 499);
  assert.deepEqual(
    paragraphs().filter((element, index) => index < 499 && before[index] !== element),
    [],
  );
});

test.after(() => window.happyDOM.close());
