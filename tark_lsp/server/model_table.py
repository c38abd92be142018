"""The list of models as a person reads it: a Markdown table, and what providers could not be asked."""

from collections.abc import Sequence

from tark_lsp.llm.catalog.facts import Facts, ModelInfo
from tark_lsp.server.asking.visible import visible

HEAD = "| model | window | dollars for a million tokens: in, out | thinks | sees |\n|---|---|---|---|---|\n"


def model_table(models: Sequence[ModelInfo], problems: Sequence[str]) -> str:
    """A cell is empty where nobody says."""
    rows = "".join(f"| {visible(model.id).replace('|', '¦')} | {_cells(model.facts)} |\n" for model in models)
    told = "".join(f"\n{visible(problem)}\n" for problem in problems)
    table = HEAD + rows if models else "None.\n"
    return f"# Models\n\n{table}{told}"


def _cells(facts: Facts) -> str:
    window = f"{facts.context_window:,}" if facts.context_window else ""
    price = "" if facts.price is None else f"{facts.price.input:g}, {facts.price.output:g}"
    thinks = {"unknown": "", "none": "no"}.get(facts.thinking, ", ".join(facts.efforts) or "yes")
    sees = {None: "", True: "yes", False: "no"}[facts.images]
    return " | ".join((window, price, thinks, sees))
