"""The types of values in settings: what each accepts, and what is said about another value."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

Wire = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini-content", "ollama-chat"]
Thinking = Literal["auto", "off", "low", "medium", "high"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
LogLevel = Literal["debug", "info", "warning", "error"]


def _matching(pattern: str, problem: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(problem)
        return value

    return AfterValidator(check)


Embeddings = Annotated[
    str, _matching(r"static|[^/\s]+/\S+", 'must be "static" or "<provider>/<model>", like "ollama/nomic-embed-text"')
]
Count = Annotated[int, Field(strict=True, ge=1)]
Dollars = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
ModelName = Annotated[str, _matching(r"[^/\s]+/\S+", 'must be "<provider>/<model>", like "openai/gpt-6.1-sol"')]
BaseUrl = Annotated[
    str,
    _matching(r"https?://[^\s/]+\S*", "must be a URL that starts with https:// or http://"),
    # A password would be shown with the URL, and a path would be appended after the ? or #.
    _matching(r"[^@?#]*", "must be a URL without user name, password, ? and # (`tark-lsp login` stores a key)"),
]
EnvironmentName = Annotated[
    str, _matching(r"[A-Za-z_][A-Za-z0-9_]*", "must be the name of an environment variable, never the key itself")
]
ClientId = Annotated[str, _matching(r"[!-~]+", "must be the client ID of an OAuth app")]
Header = Annotated[str, _matching(r"[^\r\n\0]*", "must be one line")]
Rule = Annotated[
    str,
    Field(max_length=1000),
    _matching(r"[\w*-]+(\(.*\))?", 'must be "tool" or "tool(specifier)", like "run_command(pytest *)"'),
]
Rules = Annotated[tuple[Rule, ...], Field(max_length=500)]
