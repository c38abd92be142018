"""Replies of a hostile model: the payloads of the unit tests, as replies of the scripted model in one turn."""

import json
import subprocess
from collections.abc import Sequence

from tests.editors.vscode.installed import EXTENSION

LOAD = """
import { build } from "esbuild";
const { outputFiles } = await build({ entryPoints: ["test/unit/hostile.ts"], format: "esm", write: false });
const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`;
console.log(JSON.stringify((await import(url)).HOSTILE));
"""

LEADS_AWAY = """() => {
  const loads = 'script, iframe, frame, img, svg, video, audio, object, embed, link, base, meta, form, style, math';
  const names = '[href], [src], [srcset], [action], [background], [data]';
  const handles = (element) => element.getAttributeNames().some((name) => name.startsWith('on'));
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.matches(`${loads}, ${names}`) || handles(element))
    .filter((element) => !element.matches('script[nonce]'))
    .map((element) => element.outerHTML.slice(0, 200));
}"""
"""Finds elements of a page that load something, link somewhere or run code."""


def payloads() -> list[str]:
    argv = ["node", "--input-type=module", "--eval", LOAD]
    done = subprocess.run(argv, cwd=EXTENSION, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def replies(said: Sequence[str]) -> str:
    """Replies to "be hostile": each payload as text, thought and tool argument; all in a plan and a question."""
    rules = []
    for index, payload in enumerate(said):
        asks = "when = 'be hostile'" if index == 0 else 'tool = "list_directory"\ntimes = 1'
        words = json.dumps(payload, ensure_ascii=False)
        path = json.dumps(payload[:200], ensure_ascii=False)
        call = f'{{ name = "list_directory", arguments = {{ path = {path} }} }}'
        rules.append(f"[[reply]]\n{asks}\nthinking = {words}\ntext = {words}\ncalls = [{call}]\n")
    entries = ", ".join(
        f'{{ content = {json.dumps(payload[:200], ensure_ascii=False)}, status = "pending" }}' for payload in said
    )
    plan = f'{{ name = "update_plan", arguments = {{ entries = [{entries}] }} }}'
    options = json.dumps(said[:20], ensure_ascii=False)
    question = f'{{ name = "ask_user", arguments = {{ question = {json.dumps(said[0])}, options = {options} }} }}'
    rules.append(f'[[reply]]\ntool = "list_directory"\ncalls = [{plan}, {question}]\n')
    return "\n".join(rules)
