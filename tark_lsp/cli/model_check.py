"""Checks the model of `--model` before it is used (`tark.models.check`)."""

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError
from tark_lsp.server.client import Client


async def check_model(client: Client, model: str | None, screen: Screen, *, force: bool) -> None:
    """Raises an error if the provider is unknown, or if it does not list the model and `force` is not set.

    If the name cannot be checked, the reason is printed.
    """
    if model is None:
        return
    found = await client.command("tark.models.check", {"model": model})
    if found["listed"] is None:
        screen.print_line(one_line(found["message"]), "yellow")
    elif not found["listed"] and not force:
        near = " or ".join(map(one_line, found["near"]))
        hint = "--force-model uses it nevertheless"
        raise RequestError(one_line(found["message"]), hint=f"did you mean {near}? {hint}" if near else hint)
