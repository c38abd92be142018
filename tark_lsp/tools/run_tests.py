"""run_tests: runs the tests of the project with the project's test runner, and returns the failures."""

from pydantic import Field

from tark_lsp.tools.runners.runner import Purpose
from tark_lsp.tools.runners.running import runner_tool
from tark_lsp.tools.tool import Arguments

DESCRIPTION = """\
Run tests with the test runner of the project (pytest, unittest, vitest, jest, the script `test` of package.json, \
cargo test, go test, or a target of a makefile) and get the failures with their files, lines and messages, instead of \
the whole output. The runner is that of the nearest folder that shows its use. The command line is permitted and runs \
as by run_command, which you use for other options, or if it needs the network."""


class RunTestsArguments(Arguments):
    target: str | None = Field(
        default=None,
        description="What to run: a file, a folder, PATH::NAME, the name of a test, or a target of a makefile. "
        "Default: all tests of the (first) workspace folder.",
    )
    runner: str | None = Field(
        default=None,
        description="Which runner, if several are used: pytest, unittest, vitest, jest, npm test, cargo test, go test "
        "or make.",
    )


TOOL = runner_tool(Purpose.TEST, DESCRIPTION, RunTestsArguments, lambda args: (args.target, args.runner))
