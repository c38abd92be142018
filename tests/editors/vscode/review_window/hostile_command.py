"""A command with hostile text, and the scripted model that wants to run it."""

import json
from pathlib import Path

from tests.editors.hostile_text import worst

CODE = "echo $(pwd) $(sync~spin) \\$(check) [0-9]* `id` 'a  b' [x](command:y) \u202e\u200b; "
HOSTILE = CODE + "\n".join(text.replace("\0", "") for text in worst())  # no command can have NUL
CALL = f'{{ name = "run_command", arguments = {{ command = {json.dumps(HOSTILE)} }} }}'
REPLY = f"""[[reply]]
when = 'says:\\s+run hostile'
calls = [{CALL}]

"""
FIRST_PROMPT = "[[reply]]\nwhen = 'says:"
"""Replies to prompts follow those to results of tools."""


def scenario(folder: Path) -> Path:
    """The replies of review.toml, and this one."""
    path = folder / "review.toml"
    replies = Path(__file__).with_name("review.toml").read_text()
    path.write_text(replies.replace(FIRST_PROMPT, REPLY + FIRST_PROMPT, 1))
    return path
