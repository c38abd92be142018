"""Shows an MCP server's questions during a call to the user: each field of a form, or the full URL of a page.

Each question names the server and can be declined.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tark_lsp.errors import ToolError
from tark_lsp.tools.editor import Option
from tark_lsp.tools.tool import ToolContext

if TYPE_CHECKING:  # imported only with the first server
    from tark_lsp.mcp.elicitation import Elicit, Elicitation, Form, FormField, UrlToOpen, Value

DECLINE, SKIP, OPENED = "decline", "skip", "opened"
VALUE = "value:"
TRIES = 3
"""How often the user can give an invalid answer to a field."""


class Declined(Exception):
    """The user declined to answer."""


def asked_of_user(server: str, ctx: ToolContext) -> "Elicit":
    async def elicit(asked: "Elicitation") -> "Mapping[str, Value] | None":
        from tark_lsp.mcp.elicitation import Form

        try:
            return await _form(server, ctx, asked) if isinstance(asked, Form) else await _url(server, ctx, asked)
        except Declined:
            return None
        except ToolError as error:  # this editor cannot ask such a question
            ctx.notify_user(f"the MCP server {server} asked you something that was declined: {error.message}")
            return None

    return elicit


async def _form(server: str, ctx: ToolContext, form: "Form") -> "Mapping[str, Value]":
    values: dict[str, Value] = {}
    for field in form.fields:
        value = await _field(server, ctx, form.message, field)
        if value is not None:
            values[field.name] = value
    return values


async def _url(server: str, ctx: ToolContext, asked: "UrlToOpen") -> "Mapping[str, Value]":
    question = f"The MCP server {server} wants you to open a page: {asked.message}\n{asked.url}"
    answer = await ctx.editor.ask_user(
        question, (Option(DECLINE, "Decline"), Option(OPENED, "I opened it")), free_text=False
    )
    if answer != [OPENED]:
        raise Declined
    return {}


async def _field(server: str, ctx: ToolContext, message: str, field: "FormField") -> "Value | None":
    """None: an optional field that was skipped. Raises Declined."""
    from tark_lsp.mcp.elicitation import typed_value

    named = field.title or field.name
    about = f": {field.description}" if field.description else ""
    question = f"The MCP server {server} asks: {message}\n{named}{about}"
    chosen = [Option(f"{VALUE}{value}", label) for value, label in field.options]
    if field.kind == "boolean":
        chosen = [Option(f"{VALUE}yes", "Yes"), Option(f"{VALUE}no", "No")]
    if field.default is not None and not chosen:
        chosen = [Option(f"{VALUE}{field.default}", f"{field.default}")]
    options = [*chosen, *([] if field.required else [Option(SKIP, "Skip")]), Option(DECLINE, "Decline")]
    typed = field.kind in ("text", "number", "integer")
    for _ in range(TRIES):
        answer = await ctx.editor.ask_user(question, options, multiple=field.kind == "choices", free_text=typed)
        if answer is None or (isinstance(answer, list) and DECLINE in answer):
            raise Declined
        if isinstance(answer, list):
            if SKIP in answer:
                return None
            values = [one.removeprefix(VALUE) for one in answer]
            if field.kind == "choices":
                return values
            answer = values[0]
        try:
            return typed_value(field, answer)
        except ValueError:
            question = f"{question}\n{answer[:50]!r} is not possible: it must be of the kind {field.kind}"
    raise Declined
