"""The list of models as a table for people."""

from tark_lsp.llm.catalog.facts import ModelFacts, ModelInfo, Price
from tark_lsp.server.model_list import HEAD, model_table


def test_what_is_known_and_what_is_not() -> None:
    known = ModelFacts(
        context_window=200_000, thinking="effort", efforts=("low", "high"), price=Price(3, 15), images=True
    )
    models = [
        ModelInfo("p/known", "Known", facts=known),
        ModelInfo("p/odd|`name`\n", "Odd", facts=ModelFacts(thinking="none", images=False)),
        ModelInfo("p/unknown", "Unknown"),
    ]
    text = model_table(models, ["groq: no connection"])
    assert text.startswith(f"# Models\n\n{HEAD}| `p/known` | 200,000 | 3, 15 | low, high | yes |\n")
    assert "| ``p/odd\\|`name`⏎`` |  |  | no | no |\n" in text
    assert "| `p/unknown` |  |  |  |  |\n" in text
    assert text.endswith("\ngroq: no connection\n")


def test_none() -> None:
    assert model_table([], ["openai: no key"]) == "# Models\n\nNone.\n\nopenai: no key\n"
