"""The types of settings: values with their rules, the base of all sections, and the mark for user-only settings."""

import re
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Wire = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini-content", "ollama-chat"]
Thinking = Literal["auto", "off", "low", "medium", "high"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
LogLevel = Literal["debug", "info", "warning", "error"]


def matching(pattern: str, problem: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(problem)
        return value

    return AfterValidator(check)


Embeddings = Annotated[
    str, matching(r"static|[^/\s]+/\S+", 'must be "static" or "<provider>/<model>", like "ollama/nomic-embed-text"')
]
Count = Annotated[int, Field(strict=True, ge=1)]
Dollars = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
ModelName = Annotated[str, matching(r"[^/\s]+/\S+", 'must be "<provider>/<model>", like "openai/gpt-6.1-sol"')]
AgentName = Annotated[
    str, matching(r"[a-z0-9][a-z0-9_-]{0,39}", "must be the name of an agent: lower case letters, digits, - and _")
]
BaseUrl = Annotated[
    str,
    matching(r"https?://[^\s/]+\S*", "must be a URL that starts with https:// or http://"),
    # A password would be shown with the URL, and a path would be appended after the ? or #.
    matching(r"[^@?#]*", "must be a URL without user name, password, ? and # (`tark-lsp login` stores a key)"),
]
EnvironmentName = Annotated[
    str, matching(r"[A-Za-z_][A-Za-z0-9_]*", "must be the name of an environment variable, never the key itself")
]
ClientId = Annotated[str, matching(r"[!-~]+", "must be the client ID of an OAuth app")]
Header = Annotated[str, matching(r"[^\r\n\0]*", "must be one line")]
Rule = Annotated[
    str,
    Field(max_length=1000),
    matching(r"[\w*-]+(\(.*\))?", 'must be "tool" or "tool(specifier)", like "run_command(pytest *)"'),
]
Rules = Annotated[tuple[Rule, ...], Field(max_length=500)]


class Section(BaseModel):
    """Files and editors use camelCase; code uses snake_case."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,  # as part of `Settings`: no section is ever validated alone
    )


class UserOnlyMark:
    """Marks a field that a repository must not set: (user) in the protocol."""


T = TypeVar("T")
UserOnly = Annotated[T, UserOnlyMark()]
