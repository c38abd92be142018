"""Maps a thinking level to the effort levels of a model."""

from collections.abc import Sequence

EFFORT_SCALE = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All effort levels of all providers, the lowest first."""


def effort_for(level: str, efforts: Sequence[str]) -> str:
    """Returns the level of `efforts` (the model's, the lowest first; empty: unknown) that is nearest to `level`.

    "" means: send nothing. It is returned for `auto`, the model's own default, and for `off` if the efforts are
    unknown. `off` becomes the lowest effort. A level never becomes `none`. Of two equally near ones, the lower is used.
    """
    if level == "auto":
        return ""
    if level == "off":
        return efforts[0] if efforts else ""
    if not efforts or level in efforts:
        return level
    wanted = EFFORT_SCALE.index(level)
    thinking = [effort for effort in efforts if effort != "none" and effort in EFFORT_SCALE]
    return min(thinking, key=lambda effort: abs(EFFORT_SCALE.index(effort) - wanted), default="")
