"""The digest of a permission binds it to what was shown: whatever would run or be read or written is in it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.agent.user_interface import preview_digest, text_digest
from tark_lsp.tools.command import Command
from tark_lsp.tools.tool import Location, Preview, Risk, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.snapshot import Snapshot

COMMAND = Command(("/bin/bash", "-c", "make"), "make", Path("/project"), {"PATH": "/bin", "HOME": "/home"}, 120)
RUN = Preview("run_command make", ToolKind.EXECUTE, Risk.RISKY, command=COMMAND)
HERE = Path("/project/a.py")
EDIT = Preview(
    "edit a.py", ToolKind.EDIT, Risk.WRITE, edits=(ProposedEdit.between(Snapshot(HERE, "a\nb\n"), "a\nc\n"),)
)
READ = Preview("read_file /x", ToolKind.READ, Risk.READ_ONLY, (Location(Path("/x")),), outside=(Path("/x"),))


def edited(path: Path, before: str, after: str) -> Preview:
    return replace(EDIT, edits=(ProposedEdit.between(Snapshot(path, before), after),))


DIFFERENT = {
    "argv": (RUN, replace(RUN, command=replace(COMMAND, argv=("/bin/sh", "-c", "make")))),
    "words cut elsewhere": (RUN, replace(RUN, command=replace(COMMAND, argv=("/bin/bash", "-c ", "make")))),
    "cwd": (RUN, replace(RUN, command=replace(COMMAND, cwd=Path("/project/sub")))),
    "env": (RUN, replace(RUN, command=replace(COMMAND, env={"PATH": "/evil", "HOME": "/home"}))),
    "time": (RUN, replace(RUN, command=replace(COMMAND, timeout_seconds=1))),
    "risk": (RUN, replace(RUN, risk=Risk.DANGEROUS)),
    "what was shown": (RUN, replace(RUN, title="run_command ls")),
    "path": (EDIT, edited(Path("/project/b.py"), "a\nb\n", "a\nc\n")),
    "text before": (EDIT, edited(HERE, "x\nb\n", "x\nc\n")),
    "text after": (EDIT, edited(HERE, "a\nb\n", "a\nd\n")),
    "no edit": (EDIT, replace(EDIT, edits=())),
    "place": (READ, replace(READ, outside=(Path("/y"),))),
    "lines": (READ, replace(READ, locations=(Location(Path("/x"), 1, 2),))),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_has_another_digest(name: str) -> None:
    one, other = DIFFERENT[name]
    assert preview_digest(one) != preview_digest(other)


def test_what_is_the_same_has_the_same_digest() -> None:
    turned = replace(RUN, command=replace(COMMAND, env=dict(reversed(list(COMMAND.env.items())))))
    assert preview_digest(turned) == preview_digest(RUN)
    assert preview_digest(edited(HERE, "a\nb\n", "a\nc\n")) == preview_digest(EDIT)


def test_texts_are_told_apart_wherever_they_are_cut() -> None:
    digests = {text_digest(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], ["a\0001:b"], ["a", "b"], [], [""])}
    assert len(digests) == 7
    assert text_digest(["\ud800"])  # half a surrogate pair is no error
