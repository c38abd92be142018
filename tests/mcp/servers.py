"""Servers for tests: approved as a user would do it, in a workspace of their own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tark_lsp.mcp.approving import list_tools
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server import McpServer
from tark_lsp.mcp.server_config import ServerConfig, resolve
from tark_lsp.mcp.servers import McpServers
from tark_lsp.mcp_settings import McpServerSettings

PLAIN = str(Path(__file__).with_name("plain_server.py"))
ROOT = Path(__file__).parents[2]


class Desk:
    """A folder with pins and servers. Without a sandbox, unless a test has one."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.folder = (folder / "project").resolve()
        self.folder.mkdir(exist_ok=True)
        self.log = folder / "log"
        self.changed = folder / "changed"
        self.pins = PinStore(lambda: folder / "pins")
        self.environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.around = Surroundings(lambda: [self.folder], self.environ, **more)
        self.servers = McpServers(self.pins, self.around)

    def plain(self, kind: str = "", name: str = "toy", **settings: Any) -> ServerConfig:
        """The plain server of this kind."""
        env = {"TOY_LOG": str(self.log), "TOY_CHANGED": str(self.changed), **settings.pop("env", {})}
        args = ("-S", "-E", PLAIN, kind)
        return self.config({"command": sys.executable, "args": args, "env": env, **settings}, name)

    def config(self, settings: Mapping[str, Any], name: str = "toy", source: Path | None = None) -> ServerConfig:
        return ServerConfig(name, McpServerSettings(**settings), source)

    def server(self, config: ServerConfig) -> McpServer:
        return McpServer(config, self.pins, self.around)

    async def approve(self, config: ServerConfig) -> Pin:
        """What `tark-lsp mcp approve` does after a yes."""
        listed = await list_tools(config, resolve(config, [self.folder]), self.pins, self.around)
        self.pins.write(listed.pin)
        return listed.pin

    def told(self) -> list[str]:
        """What the servers noted."""
        return self.log.read_text().splitlines() if self.log.exists() else []
