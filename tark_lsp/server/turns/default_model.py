"""The model of a turn that names none: the settings', else the one agreed to once, else what is found and agreed to."""

import json

from tark_lsp.errors import NoModel
from tark_lsp.folders import state_folder
from tark_lsp.llm.client import Models
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.show import write_private
from tark_lsp.server.asking.visible import visible

USE, NOT_NOW = "Use it", "Not now"
CHOSEN_MODEL = "model.json"


async def default_model(set_model: str | None, models: Models, questions: Questions) -> str:
    """Raises NoModel where none is found, or the person does not want the one that is."""
    if set_model is not None:
        return set_model
    remembered = read_chosen()
    if remembered is not None:
        return remembered
    found = await models.find_default()
    fix = 'set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider\'s key, or "model" in your config.toml'
    if found is None:
        raise NoModel("no model is set and none was found", hint=fix)
    if await questions.ask(f"Tark: no model is set. Use {visible(found)}?", [USE, NOT_NOW]) != USE:
        raise NoModel(f"no model is set, and {found} was not agreed to", hint=fix)
    write_private(state_folder(), CHOSEN_MODEL, json.dumps({"model": found}))
    return found


def read_chosen() -> str | None:
    try:
        value = json.loads((state_folder() / CHOSEN_MODEL).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none yet, or not ours: then the person is asked again
        return None
    model = value.get("model") if isinstance(value, dict) else None
    return model if isinstance(model, str) else None
