"""`ChatOptions`: what a request can specify about the answer: tool calls, format and sampling."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class OneTool:
    """The model must call this tool."""

    name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | OneTool
"""The model decides; it calls none; it calls at least one; it calls this one."""


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The text of the answer is JSON: any object, or what `schema` describes.

    `strict`: whether the provider must enforce the schema; None is its own default. A wire that always enforces it
    does not send the field, and neither do wires without names for schemas send `name` and `description`.
    """

    kind: Literal["json_object", "json_schema"]
    name: str = ""
    schema: Mapping[str, Any] | None = None
    description: str = ""
    strict: bool | None = None

    @property
    def described(self) -> dict[str, Any]:
        """The fields of a JSON schema, as OpenAI's two wires have them; without those that are not set."""
        fields = {"name": self.name, "description": self.description, "strict": self.strict}
        return {name: value for name, value in fields.items() if value not in (None, "")} | {
            "schema": dict(self.schema or {})
        }


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """None is the provider's own default. `answer_format` None: plain text.

    `tool_choice` and `answer_format` change what an answer means: a model that cannot do them is not asked at all
    (`UnsupportedOption`). `parallel_tool_calls` (true is every provider's default), `temperature` (0 to 2) and `top_p`
    (0 to 1) do not. With `may_drop`, they are left out if the model does not have them, and an event `Dropped` says
    so; without, they are the same error. With `may_drop`, notices come with each request, not once in a session.
    """

    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    answer_format: AnswerFormat | None = None
    may_drop: bool = False


NO_OPTIONS = ChatOptions()


def sampling(options: ChatOptions) -> dict[str, float]:
    """Temperature and top_p, if they are set, under the names that all wires except Gemini's use."""
    values = {"temperature": options.temperature, "top_p": options.top_p}
    return {name: value for name, value in values.items() if value is not None}
