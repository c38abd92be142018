"""Other forms of English words that code can contain: another spelling, or the agent noun of a verb. Pure.

The stemmer of the text index already unifies plurals and verb endings (`parses`, `parsing`, `parsed`). A form that is
not a word does no harm, because no code contains it.
"""

import re

SHORTEST = 5
"""Characters. Forms of shorter words are too often other words: `four` and `for`."""
SPELLINGS = (
    (re.compile(r"our(?=(s|ed|ing)?$)"), "or"),
    (re.compile(r"or(?=(s|ed|ing)?$)"), "our"),
    (re.compile(r"is(?=(e|es|ed|ing|ers?|ations?)$)"), "iz"),
    (re.compile(r"iz(?=(e|es|ed|ing|ers?|ations?)$)"), "is"),
    (re.compile(r"ys(?=(e|es|ed|ing|ers?)$)"), "yz"),
    (re.compile(r"yz(?=(e|es|ed|ing|ers?)$)"), "ys"),
    (re.compile(r"ntre(?=s?$)"), "nter"),
    (re.compile(r"nter(?=s?$)"), "ntre"),
    (re.compile(r"ogue(?=s?$)"), "og"),
    (re.compile(r"og(?=s?$)"), "ogue"),
    (re.compile(r"cence(?=s?$)"), "cense"),
    (re.compile(r"cense(?=s?$)"), "cence"),
)
"""British and American: colour, normalise, analyse, centre, catalogue, licence. Each in both directions."""
ENDING = re.compile(r"(ing|ed|es|e|s)$")


def other_spellings(word: str) -> list[str]:
    """Other spellings of a word in lower case."""
    if len(word) < SHORTEST:
        return []
    return [pattern.sub(other, word) for pattern, other in SPELLINGS if pattern.search(word)]


def doer(word: str) -> str:
    """The agent noun of a verb in lower case, as classes are named: `shrinker` for `shrinks`. Can be empty."""
    if len(word) < SHORTEST or word.endswith("er"):
        return ""
    return re.sub(r"y$", "i", ENDING.sub("", word)) + "er"
