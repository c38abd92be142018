"""The turns that the plugin knows, as in its transcripts."""

from typing import Any

from tests.editors.neovim.driver import Neovim

CODE = """
    local found = {}
    for _, known in ipairs(require('tark.state').all()) do
      for session_id, transcript in pairs(known.transcripts) do
        for _, turn in ipairs(transcript.turns) do
          table.insert(found, {
            session = session_id, current = session_id == known.session_id, state = turn.state, kind = turn.turnKind,
            prompt = turn.prompt, range = turn.range, stop = turn.stopReason,
          })
        end
      end
    end
    return found
"""


def turns(neovim: Neovim) -> list[dict[str, Any]]:
    return list(neovim.lua(CODE))


def ended(neovim: Neovim, number: int) -> dict[str, Any]:
    """The last turn that ended, once this number of turns of one session has."""

    def all_ended() -> bool:
        found = turns(neovim)
        return len(found) == number and all(turn["state"] == "ended" for turn in found)

    neovim.until(all_ended, f"{number} turns ended")
    return turns(neovim)[-1]


def told(neovim: Neovim, words: str) -> None:
    """The user saw this message, and no error stack of the plugin."""
    neovim.until(lambda: words in neovim.messages(), f"the message {words!r}")
    unhurt(neovim)


def unhurt(neovim: Neovim) -> None:
    for stack in ("stack traceback", "E5108", "Error executing", "something went wrong in the plugin"):
        assert stack not in neovim.messages()
