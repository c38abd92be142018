"""A session of 40 turns as on a working day: edits, tests, searches and git; and how often the user is asked.

`python -m tests.trust_report.forty_turns` prints the numbers. It needs only tests/editors of the checkout that is
imported, so it also measures older ones: `PYTHONPATH=CHECKOUT python COPY_OF_THIS_FILE`.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.editors.behaviour import NEOVIM
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import INPUT, MESSAGE, Question

SERVER = (sys.executable, "-m", "tark_lsp")
FLAGS = frozenset({"permission", "updates", "input", "review"})
SECONDS = 120.0
YES = ("Trust", "Trust Workspace", "Allow for this session", "Allow", "Apply all this turn", "Apply")
"""Of messages: the first that is offered."""


def command(text: str) -> dict[str, object]:
    return {"name": "run_command", "arguments": {"command": text}}


def edit(number: int) -> dict[str, object]:
    old, new = f"VALUE = {number}\n", f"VALUE = {number + 1}\n"
    return {"name": "edit_file", "arguments": {"path": "a.py", "old_text": old, "new_text": new}}


def search(pattern: str) -> dict[str, object]:
    return {"name": "search_text", "arguments": {"pattern": pattern}}


TESTS = (
    *("python3 -m unittest -q", "python3 -m unittest -q test_a", "python3 -m unittest test_a.Tests.test_value"),
    *("python3 -m unittest -q", "python3 -m unittest -q test_a", "python3 -m unittest -q", "python3 -m unittest -v"),
    *("python3 -m unittest -q", "python3 -m unittest -q test_a", "python3 -m unittest -q"),
)
SEARCHES = (
    *(search("VALUE"), search("import"), command("grep -rn VALUE ."), command("sed -n 1,5p a.py")),
    *(command("wc -l a.py test_a.py"), command("find . -name '*.py'"), search("class"), command("cat a.py | head -3")),
)
GIT = (
    *("git status", "git diff", "git log --oneline -5", "git status --short", "git diff a.py"),
    *("git log -3", "git diff --stat", "git status", "git diff", "git branch"),
)


def turns() -> list[dict[str, object]]:
    """The call of each turn: 12 edits, 10 runs of tests, 8 searches, 10 of git, in turn."""
    rows = {
        "edit": [edit(number) for number in range(12)],
        "test": [command(text) for text in TESTS],
        "search": [*SEARCHES],
        "git": [command(text) for text in GIT],
    }
    found: list[dict[str, object]] = []
    while any(rows.values()):
        found += [row.pop(0) for row in rows.values() if row]
    return found


def write_places(root: Path, level: str) -> dict[str, str]:
    """The project, and a scripted model. Returns the environment of the server."""
    project, home = root / "project", root / "home"
    project.mkdir(parents=True)
    (project / "a.py").write_text("VALUE = 0\n")
    test = "import unittest\nimport a\n\n\nclass Tests(unittest.TestCase):\n    def test_value(self):\n"
    (project / "test_a.py").write_text(f"{test}        self.assertLess(a.VALUE, 99)\n")
    (project / ".gitignore").write_text("__pycache__\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run(("git", "-C", str(project), *who, *words), check=True, capture_output=True)
    replies = ['wire = "openai-chat"\n']
    for tool in ("run_command", "edit_file", "search_text"):
        replies.append(f'[[reply]]\ntool = "{tool}"\ntext = "Done."\n')
    for number, made in enumerate(turns()):
        arguments = json.dumps(json.dumps(made["arguments"]))
        call = f'{{ name = "{made["name"]}", arguments_json = {arguments} }}'
        replies.append(f'[[reply]]\nwhen = "turn {number} of"\ncalls = [{call}]\n')
    (home / ".config" / "tark").mkdir(parents=True)
    (home / "scenario.toml").write_text("\n".join(replies))
    config = f'model = "scripted/m"\napproval = "{level}"\n[providers.scripted]\nscenario = "{home}/scenario.toml"\n'
    (home / ".config" / "tark" / "config.toml").write_text(config)
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_KEY") and "TARK" not in name}
    folders = {"CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache", "DATA": ".local/share"}
    own = {f"XDG_{name}_HOME": str(home / folder) for name, folder in folders.items()}
    return {**kept, **own, "HOME": str(home), "TARK_KEYRING": "off"}


def answer(question: Question) -> None:
    """Yes, with the widest grant that is offered, which is the last."""
    if question.method == INPUT:
        trust = [option["id"] for option in question.params["options"] if option["id"] == "trust"]
        question.answer({"answer": trust or None})
    elif question.method == MESSAGE:
        question.choose(next(title for title in YES if title in question.titles))
    else:
        grants = question.params["grants"]
        question.answer({"outcome": "allow", **({"grant": grants[-1]["id"]} if grants else {})})


async def run_session(root: Path, level: str) -> tuple[list[str], list[str]]:
    """The questions, and what did not work as expected."""
    environment = write_places(root, level)
    editor = MemoryEditor(NEOVIM, FLAGS)
    await editor.start(SERVER, folder=root / "project", env=environment)
    editor.policy = answer
    failures: list[str] = []
    session: dict[str, Any] = {}
    try:
        uri = editor.open(root / "project" / "a.py")
        count = len(turns())
        for number in range(count):
            turn = await editor.turn(f"turn {number} of {count}", **session)
            end = await editor.end(turn, SECONDS)
            session = {"sessionId": end["sessionId"]}
            calls = [update for update in editor.updates(turn, "toolCall") if "status" in update]
            if end["stopReason"] != "end_turn" or not calls or calls[-1]["status"] != "completed":
                failures.append(f"turn {number}: {turns()[number]} {end['stopReason']}")
            (root / "project" / "a.py").write_text(editor.text(uri))  # the user saves
            editor.connection.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    finally:
        await editor.connection.stop()
    return [question.text for question in editor.questions], failures


async def main() -> None:
    for level in ("careful", "balanced"):
        with tempfile.TemporaryDirectory() as name:
            questions, failures = await run_session(Path(name).resolve() / "session", level)
            print(f"{level}: {len(questions)} questions in {len(turns())} turns", *questions, *failures, sep="\n    ")


if __name__ == "__main__":
    asyncio.run(main())
