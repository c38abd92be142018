"""`tark-lsp mcp import`: adds the servers of another program to config.toml, and says which it leaves out, and why."""

from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.mcp_servers.programs import DOWNLOADERS, files_of
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.folders import user_config_path
from tark_lsp.mcp.config_text import add_server, configured
from tark_lsp.mcp.names import server_name
from tark_lsp.mcp.offers import read_file


def import_servers(screen: Screen, folder: Path, program: str, names: Sequence[str], *, network: bool) -> int:
    """Returns the exit code. `names`: only these, as in the other program or as in Tark; all if empty. `network`: with
    the network in the sandbox. Raises TarkError."""
    config = user_config_path()
    wanted = {server_name(name): name for name in names}
    known = set(configured(config))
    found: set[str] = set()
    added: list[str] = []
    downloading: list[str] = []
    files = files_of(program)
    for file in files:
        offers = read_file(file, workspace=folder, local=True)
        for problem in offers.problems:
            screen.print_line(whole_line(problem), "yellow")
        if not offers.servers and not offers.problems:
            screen.print_line(f"{whole_line(str(file))} has no MCP servers", "yellow")
        for one in offers.servers:
            if wanted and one.name not in wanted:
                continue
            found.add(one.name)
            if one.name in known:
                screen.print_line(f"{one.name} of {whole_line(str(file))} is left out: {_taken(one.name)}", "yellow")
                continue
            is_program = one.settings.url is None
            settings = one.settings.model_copy(update={"network": network and is_program})
            screen.print_line(visible(add_server(config, one.name, settings)))
            known.add(one.name)
            added.append(one.name)
            if is_program and not network and Path(one.settings.command or "").stem in DOWNLOADERS:
                downloading.append(one.name)
    for name in (given for plain, given in wanted.items() if plain not in found):
        places = ", ".join(whole_line(str(file)) for file in files)
        screen.print_line(f"there is no server {one_line(name)!r} that can be used in {places}", "yellow")
    count = "1 server was" if len(added) == 1 else f"{len(added)} servers were"
    screen.print_line(f"{count} added to {one_line(str(config))}")
    if downloading:
        screen.print_line(
            f"{', '.join(downloading)}: if the program has to download the server, write network = true in its table, "
            "because the sandbox has no network",
            "yellow",
        )
    if added:
        screen.print_line("none of them starts before you approve it: tark-lsp mcp approve NAME")
    return DONE if added else NOT_DONE


def _taken(name: str) -> str:
    return f"you have a server of this name; to replace it, remove it first: tark-lsp mcp remove {name}"
