"""`tark.models.list`: the models of all providers, as JSON and as a table for people."""

from collections.abc import Iterable, Sequence
from typing import Any

from tark_lsp.errors import MissingKey, RequestError, SettingsError
from tark_lsp.llm.catalog.facts import ModelFacts, ModelInfo
from tark_lsp.prose import prose_line
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.commands import Command
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.outgoing import model_json
from tark_lsp.visible import table_cell

HEAD = "| model | window | dollars for a million tokens: in, out | thinks | sees |\n|---|---|---|---|---|\n"


class ModelList:
    def __init__(self, configuration: Configuration, show: TextDisplay) -> None:
        self._configuration = configuration
        self._show = show

    def commands(self) -> Iterable[Command]:
        yield Command("tark.models.list", incoming.ListModels, self.list)

    async def list(self, request: incoming.ListModels) -> Any:
        try:
            found = await self._configuration.models.list_models(request.provider, refresh=request.refresh)
        except MissingKey:
            raise
        except SettingsError as error:
            raise RequestError(f"provider: {error.message}", hint=error.hint) from error
        await self._show.command_result("models", model_table(found.models, found.problems))
        return {"models": [model_json(model) for model in found.models], "problems": list(found.problems)}


def model_table(models: Sequence[ModelInfo], problems: Sequence[str]) -> str:
    """A Markdown table, and the providers that could not be asked. A cell is empty if the fact is unknown."""
    rows = "".join(f"| {table_cell(model.id)} | {_cells(model.facts)} |\n" for model in models)
    notes = "".join(f"\n{prose_line(problem)}\n" for problem in problems)
    table = HEAD + rows if models else "None.\n"
    return f"# Models\n\n{table}{notes}"


def _cells(facts: ModelFacts) -> str:
    window = f"{facts.context_window:,}" if facts.context_window else ""
    price = "" if facts.price is None else f"{facts.price.input:g}, {facts.price.output:g}"
    unset = "always" if facts.off == "never" else "no"
    thinks = {"unknown": "", "none": unset}.get(facts.thinking, ", ".join(facts.efforts) or "yes")
    sees = {None: "", True: "yes", False: "no"}[facts.images]
    return " | ".join((window, price, thinks, sees))
