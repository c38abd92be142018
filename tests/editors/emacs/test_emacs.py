"""Real Emacs with eglot in batch: a turn from a selection, the choice, the change, one undo; an answer in words."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.editors.pool import environment, write_settings
from tests.editors.shapes import AREA, DOCSTRING, HEAD, NEW_AREA, SHAPES

pytestmark = pytest.mark.editor

SESSION = Path(__file__).with_name("session.el")
COMMENT = "# tark: rewrite the area in shapes.py\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the person saw of one session (session.el)."""

    titles: list[str]
    after: str
    undone: str
    said: list[str]


def session(emacs: str, tmp_path: Path, text: str, lines: tuple[int, int], title: str, answers: list[str]) -> Seen:
    """`lines` from 1, both included. `answers` are typed in turn, whatever is asked."""
    folder, home, seen = tmp_path / "workspace", tmp_path / "home", tmp_path / "seen.json"
    folder.mkdir()
    write_settings(home)
    file = folder / "shapes.py"
    file.write_text(text)
    env = {**environment(home), "LC_ALL": "C.UTF-8"}
    first, last = lines
    command = [emacs, "--batch", "-l", str(SESSION), str(file), str(first), str(last), title, str(seen)]
    typed = "".join(f"{answer}\n" for answer in answers)
    process = subprocess.run(
        command, input=typed, env=env, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return Seen(**json.loads(seen.read_text()))


def test_document_by_a_code_action(emacs: str, tmp_path: Path) -> None:
    """The second question is eglot's own, which it asks before any edit a server makes."""
    seen = session(emacs, tmp_path, SHAPES, (6, 7), "Document", ["Apply", "y"])
    assert seen.after == SHAPES.replace(HEAD, HEAD + DOCSTRING)
    assert seen.undone == SHAPES, "one undo"


def test_rejected(emacs: str, tmp_path: Path) -> None:
    seen = session(emacs, tmp_path, SHAPES, (6, 7), "Document", ["Reject"])
    assert seen.after == SHAPES


def test_refused_when_eglot_asks(emacs: str, tmp_path: Path) -> None:
    """Applied by the person, then refused in eglot's own question: nothing changes, and the server says so."""
    seen = session(emacs, tmp_path, SHAPES, (6, 7), "Document", ["Apply", "n", "n", "n"])
    assert seen.after == SHAPES


def test_a_prompt_in_a_comment(emacs: str, tmp_path: Path) -> None:
    with_comment = SHAPES.replace(HEAD, COMMENT + HEAD)
    seen = session(emacs, tmp_path, with_comment, (6, 6), "Run", ["Apply", "y"])
    assert seen.after == SHAPES.replace(AREA, NEW_AREA), "the edit made, the comment gone"
    assert seen.undone == with_comment, "both undone in one step"


def test_an_answer_in_words_is_said(emacs: str, tmp_path: Path) -> None:
    """This eglot shows no documents: its beginning and its path are said."""
    seen = session(emacs, tmp_path, SHAPES, (6, 7), "Explain", [])
    assert seen.after == SHAPES
    (said,) = [said for said in seen.said if "It multiplies" in said]
    (path,) = (word.strip("()`'\"") for word in said.split() if word.strip("()`'\"").endswith(".md"))
    assert "by the square of the radius" in Path(path).read_text()
