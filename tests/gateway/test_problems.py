"""Every error of the layers below as an error of OpenAI's API."""

import pytest

from tark_lsp.errors import (
    ContextOverflow,
    ModelError,
    Overloaded,
    RateLimited,
    SettingsError,
    TarkError,
    UnsupportedOption,
)
from tark_lsp.gateway.problems import KINDS, problem_of
from tark_lsp.gateway.response import failed, new_response
from tark_lsp.llm.hints import add_hint
from tark_lsp.llm.providers.openai import PROVIDER
from tests.gateway.sdk import REPEATED, check_response


def below(kind: type[TarkError]) -> list[type[TarkError]]:
    return [found for inner in kind.__subclasses__() for found in (inner, *below(inner))]


def test_every_error_of_a_model_has_a_row() -> None:
    assert set(below(ModelError)) <= KINDS.keys()


def test_a_new_kind_of_settings_error_has_the_row_of_its_base() -> None:
    assert all(problem_of(kind("x")).status >= 400 for kind in below(SettingsError))


def test_the_hint_is_part_of_the_message() -> None:
    problem = problem_of(UnsupportedOption("answer_format", "it has none", hint="leave it out"))
    assert (problem.message, problem.param) == ("it has none (leave it out)", "text.format")


def test_no_advice_for_a_chat() -> None:
    busy, long = Overloaded("too many"), ContextOverflow("too long")
    add_hint(busy, PROVIDER, None, 0, 30.0)
    assert problem_of(busy).message.startswith("too many; the next try is in 30 s (")
    add_hint(long, PROVIDER, None, 1)
    assert problem_of(long).message == "too long (send less)"


def test_when_to_try_again() -> None:
    assert problem_of(Overloaded("x", retry_after=0.2)).headers == {"x-should-retry": "true", "retry-after": "1"}
    assert problem_of(SettingsError("x")).headers == {"x-should-retry": "false"}


@pytest.mark.slow  # the SDK takes seconds to import
@pytest.mark.parametrize("error", [RateLimited("x"), Overloaded("x")])
def test_a_failed_response_has_an_official_code(error: TarkError) -> None:
    check_response(failed(new_response("resp_1", 1, "p/m", REPEATED), [], None, problem_of(error)))
