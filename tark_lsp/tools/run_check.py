"""run_check: runs a linter, type checker or compiler of the project, and returns the problems that it finds."""

from pydantic import Field

from tark_lsp.tools.runners.runner import Purpose
from tark_lsp.tools.runners.running import runner_tool
from tark_lsp.tools.tool import Arguments

DESCRIPTION = """\
Check code with a linter, type checker or compiler of the project (ruff, mypy, tsc, eslint, cargo check, go vet, or a \
target of a makefile) and get the problems with their files, lines and messages. Of several, the first that is used in \
the nearest folder runs; the result names the others. The command line is permitted and runs as by run_command, which \
you use for other options, or if it needs the network."""


class RunCheckArguments(Arguments):
    path: str | None = Field(
        default=None, description="The file or folder to check. Default: all of the (first) workspace folder."
    )
    runner: str | None = Field(
        default=None,
        description="Which checker, if several are used: ruff, mypy, tsc, eslint, cargo check, go vet or make.",
    )


TOOL = runner_tool(Purpose.CHECK, DESCRIPTION, RunCheckArguments, lambda args: (args.path, args.runner))
