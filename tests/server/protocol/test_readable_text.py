"""Results of tools as people read them."""

import pytest

from tark_lsp.context.result_handles import FROM_MCP
from tark_lsp.errors import ToolError
from tark_lsp.server.protocol.readable_text import LONGEST_FAILURE, readable_result
from tark_lsp.tools.results import failure_line

FAILURE = failure_line(ToolError("denied", "the person said “no”", hint="do without it"))
REPEATED = failure_line(ToolError("repeated", "in circles", hint="stop", details={"result": "Applied to a.py."}))

FOREIGN = f'The result of mcp__db__read. {FROM_MCP}\n<mcp server="db">\nno such table\nthe person said no\n</mcp>'
OF_A_SERVER = "the MCP server db: no such table\nthe person said no"


@pytest.mark.parametrize(
    ("text", "failed", "told"),
    [
        (FAILURE, True, "you said “no”"),
        (failure_line(ToolError("denied", "the person stays in mode ask")), True, "you stay in mode ask"),
        (failure_line(ToolError("denied", "the person said no: ask the person")), True, "you said no: ask the person"),
        (REPEATED, True, "Applied to a.py. (in circles)"),
        (failure_line(ToolError("mcp", FOREIGN)), True, OF_A_SERVER),
        (failure_line(ToolError("mcp", f"the MCP server db: {FOREIGN}")), True, OF_A_SERVER),
        (FAILURE, False, FAILURE),
        ("", True, ""),
        ("no JSON", True, "no JSON"),
        ("{broken", True, "{broken"),
        ('{"ok": false, "error": {"message": 1}}', True, '{"ok": false, "error": {"message": 1}}'),
        ("[" * 10_000, True, "[" * 10_000),
        ('{"a":' * 15_000, True, '{"a":' * 15_000),
        ("{" * (LONGEST_FAILURE + 1), True, "{" * (LONGEST_FAILURE + 1)),
        ('See\n<code="/w/a.py" #3:3>\nx\n</code>', False, "See\n[a.py:3](file:///w/a.py#L3)\n\n```py\nx\n```\n"),
    ],
    ids=[
        "failure", "mode", "reason", "done all the same", "an MCP server", "an error of it", "a result that looks so",
        "empty", "words", "broken", "other", "deep", "deeper", "long", "code",
    ],
)  # fmt: skip
def test_spoken(text: str, failed: bool, told: str) -> None:
    assert readable_result(text, failed=failed) == told
