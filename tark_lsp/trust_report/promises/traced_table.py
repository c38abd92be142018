"""Each command and flag of the table only reads: strace checks its system calls."""

import os

from tark_lsp.commands.reading import ROWS, why_not_reading
from tark_lsp.commands.shell_text import ReadCommand
from tark_lsp.trust_report.gate import working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise
from tark_lsp.trust_report.tracing import can_trace, commands_of, make_project, trace

NOT_INSTALLED = 127
USAGE = (2, 125, 129)
EVERY = 12
"""One of this many commands is tried, unless all are."""


async def measure(ground: Ground) -> Outcome:
    can_trace()
    workspace, output = ground.folder / "workspace", ground.folder / "output"
    workspace.mkdir()
    output.mkdir()
    make_project(workspace)
    sandbox = await working_sandbox(ground.folder, workspace)
    found = dict.fromkeys(words for row in ROWS for words in commands_of(row))
    allowed = [
        words for words in found if not why_not_reading(ReadCommand((words,)), workspace, [workspace], lambda _: False)
    ]
    tried = allowed if ground.thorough else allowed[::EVERY]
    traced = await trace(sandbox, workspace, output, tried, os.environ["PATH"])
    ran = [one for one in traced if one.code != NOT_INSTALLED]
    failures = tuple(f"{' '.join(one.words)}: {one.beyond[0]}" for one in ran if one.beyond)
    refused = sum(one.code in USAGE for one in ran)
    note = f"{len(tried) - len(ran)} are not installed here, {refused} ended at once with an error of usage"
    return Outcome("commands with each flag of the table, under strace", len(ran), failures, note=note)


PROMISE = Promise(30, "Commands that only read write nothing, start nothing, and connect to nothing", measure)
