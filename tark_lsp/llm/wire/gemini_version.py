"""What a Gemini model can do by its version."""

import re

from tark_lsp.llm.wire.wire import TargetModel


def is_since_3(target: TargetModel) -> bool:
    """Whether results can contain images, thinking has levels, and JSON can be requested together with tools.

    A name without a version means the newest model.
    """
    if version := re.search(r"gemini-(\d+)", target.model):
        return int(version[1]) >= 3
    return "gemini" in target.model and target.thinking != "budget"
