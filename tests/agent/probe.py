"""Tools for tests: they do what the test hands them, so that what runs when can be seen."""

from collections.abc import Awaitable, Callable
from typing import Any

from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind


class ProbeArguments(Arguments):
    n: int = 0


def probe(
    name: str, risk: Risk, work: Callable[[int], Awaitable[str]], *, seconds: float | None = None
) -> Tool[ProbeArguments]:
    """`work` gets the call's `n` and gives its result."""

    async def preview(args: ProbeArguments, ctx: ToolContext) -> Preview:  # noqa: ARG001  # as every tool's
        return Preview(f"{name} {args.n}", ToolKind.OTHER, risk)

    async def run(args: ProbeArguments, ctx: ToolContext, preview: Preview) -> str:  # noqa: ARG001  # as every tool's
        return await work(args.n)

    return Tool(name, "A probe.", ProbeArguments, risk, preview, run, seconds)


def add(tools: dict[str, Tool[Any]], *probes: Tool[Any]) -> None:
    tools.update({item.name: item for item in probes})
