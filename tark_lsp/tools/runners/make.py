"""Targets of a makefile: the usual ones for tests and checks, or one that the call names."""

from collections.abc import Sequence

from tark_lsp.tools.runners.parsers import make_text
from tark_lsp.tools.runners.project import MAKEFILES, Mark, Project
from tark_lsp.tools.runners.report import Parser
from tark_lsp.tools.runners.runner import Purpose, Runner, Words

TESTS = ("test", "tests", "check")
CHECKS = ("lint", "typecheck", "check")


def _make(purpose: Purpose, targets: Sequence[str], parse: Parser) -> Runner:
    def first(project: Project) -> Words | None:
        found = project.make_targets()
        return next(((target,) for target in targets if target in found), None)

    rule = rf"^(?:{'|'.join(targets)})\s*:(?!=)"
    marks = tuple(Mark(file, text=rule) for file in MAKEFILES)
    return Runner(
        "make",
        purpose,
        marks,
        ("make",),
        (),
        parse,
        whole=first,
        folder=None,
        file=None,
        named=("{name}",),
        names=Project.make_targets,
    )


RUNNERS = (_make(Purpose.TEST, TESTS, make_text.parse_tests), _make(Purpose.CHECK, CHECKS, make_text.parse_checks))
