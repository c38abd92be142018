"""A user with a custom agent that only reads and has another model, and a hook that formats; their project offers an
agent. For tests of each client."""

import json
import sys
from pathlib import Path

AGENT = "---\ndescription: Looks for mistakes\ntools: Read\nmodel: scripted/small\nmode: ask\n---\nYou only review.\n"
OFFER = "---\ndescription: Of the project\n---\nYou are theirs.\n"
FORMATTER = """\
import json, sys
given = json.load(sys.stdin)
print(json.dumps({"text": given["text"].replace("x=2", "x = 2")}))
"""
SCENARIO = """\
wire = "openai-chat"
[[reply]]
tool = "edit_file"
text = "Edited."
[[reply]]
tool = "write_file"
text = "It may not."
[[reply]]
when = 'says:\\s+edit'
calls = [{ name = "edit_file", arguments = { path = "a.py", old_text = "x = 1\\n", new_text = "x=2\\n" } }]
[[reply]]
when = 'says:\\s+look'
calls = [{ name = "write_file", arguments = { path = "b.py", content = "x" } }]
[[reply]]
text = "Hello."
"""
"""`look` tries to write, `edit` writes what the hook formats."""


def write_reviewer(config: Path, project: Path) -> None:
    """`config`: the folder of the user's config.toml, which exists and ends without a table that this would be in."""
    (config / "agents").mkdir()
    (config / "agents" / "reviewer.md").write_text(AGENT)
    formatter = config / "format.py"
    formatter.write_text(FORMATTER)
    hook = {"name": "fmt", "on": "beforeEdit", "command": sys.executable, "args": ["-S", str(formatter)]}
    lines = [f"{key} = {json.dumps(value)}" for key, value in hook.items()]
    with (config / "config.toml").open("a") as settings:
        settings.write("\n".join(["", "[[hooks]]", *lines, "sandbox = false", "timeoutSeconds = 60", ""]))
    (project / "a.py").write_text("x = 1\n")
    (project / ".tark" / "agents").mkdir(parents=True)
    (project / ".tark" / "agents" / "theirs.md").write_text(OFFER)
