"""How the tests are spread over processes: a file stays together, and files that take long start first.

A file is one group, because its tests share what its fixtures start. So are the files in `SDKS`, and those whose ids
begin with the same entry of `SHARED`. The tests of a file in `SPREAD` share nothing, so each is a group of its own.
This is a scheduler of our own, because `--dist=loadgroup` of pytest-xdist 3.8 does not see groups under pytest 9.2.
"""

import os

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has no types

SPREAD = (
    "tests/cli/test_chat.py",
    "tests/cli/test_chat_begin.py",
    "tests/cli/test_chat_order.py",
    "tests/cli/test_chat_permissions.py",
    "tests/cli/test_chat_sessions.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_doctor.py",
    "tests/cli/test_index.py",
    "tests/cli/test_login.py",
    "tests/cli/test_run.py",
    "tests/cli/test_run_providers.py",
    "tests/cli/test_undo.py",
    "tests/editors/test_before_trust.py",
    "tests/editors/test_mcp_list.py",
    "tests/editors/test_permissions_kept.py",
    "tests/editors/test_sessions_killed.py",
    "tests/editors/test_undo_after_kill.py",
    "tests/server/indexing/test_processes.py",
    "tests/server/indexing/test_workspace_index.py",
)
"""Each of their tests starts programs of its own."""

SDKS = (
    "tests/llm/test_scripted_wires.py",
    "tests/llm/wire/test_histories.py",
    "tests/llm/wire/test_images.py",
    "tests/llm/wire/test_thinking_levels.py",
    "tests/mcp/test_deferring_wires.py",
)
"""They import the vendors' SDKs, which takes 5 seconds of the processor: one process does it for all of them."""

SHARED = (
    "tests/editors/vscode/chat_window/",
    "tests/editors/vscode/review_window/",
    "tests/editors/test_turn",
)
"""How the ids of files begin that share a window of VS Code, or the servers of the pool (tests/editors/pool.py)."""

LONG_FIRST = (
    *SHARED,
    "tests/cli/test_chat",
    "tests/editors/vscode",
    "tests/editors/neovim/plugin",
    "tests/editors/test_sessions_killed.py",
    "tests/cli/test_install_wheel.py",
    "tests/server/test_llmock.py",
    "tests/tools/test_run_command.py",
    "tests/editors",
    "tests/cli",
    "tests/sessions/test_killed.py",
    "tests/workspace/test_placing_time.py",
    "tests/workspace/placement",
    *SDKS,
    "tests/llm/wire/test_recorded_streams.py",
    "tests/protocol",
    "tests/server",
)
"""Beginnings of ids, those of the longest files first: what starts last ends last.

What mostly waits (the chat in a terminal, llmock, commands) runs while VS Code needs a core.
"""


def workers() -> int:
    """Two for each core: half of the time a test waits for an editor, a process or a pause."""
    return 2 * (os.cpu_count() or 1)


def arrange(items: list[pytest.Item]) -> None:
    """Sort the tests in the order in which their groups start; tests of the same place keep their order."""
    items.sort(key=lambda item: next((at for at, part in enumerate(LONG_FIRST) if item.nodeid.startswith(part)), 99))


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # as above
    """Gives each process one group after the other, in the order of the tests."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in SDKS:
            return "SDKs"
        for beginning in SHARED:
            if nodeid.startswith(beginning):
                return beginning
        return nodeid if file in SPREAD else file
