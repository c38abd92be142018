"""The six real servers of docs/mcp.md, three of each era: approved, and used in a turn.

Those of the clients: `test_real_servers.py` in tests/cli, tests/editors/neovim/plugin and tests/editors/vscode.
"""

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.mcp_tool import mcp_tool
from tests.agent.bench import Bench
from tests.agent.script import answer, call
from tests.mcp.real_servers import SERVERS, make_repository
from tests.mcp.servers import Desk

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize("name", SERVERS)
async def test_a_real_server_in_a_turn(desk: Desk, name: str) -> None:
    make_repository(desk.folder)
    real = SERVERS[name]
    config = desk.config(real.settings(desk.folder), name)
    pin = await desk.approve(config)
    assert pin.era is real.era
    assert len(pin.tools) >= real.tools
    desk.servers.configure([config])
    bench = Bench(desk.folder, rules=Policy(ApprovalLevel.CAREFUL, trusted=True))
    bench.tools |= {offered.name: mcp_tool(offered) for offered in desk.servers.tools()}
    arguments = real.arguments_in(desk.folder)
    await bench.run(answer(call(f"mcp__{name}__{real.tool}", **arguments)), answer("done"))
    assert real.said in bench.results()[0], bench.results()[0]
    assert len(bench.user.asked) == 1
