"""Other forms of English words that code can have: another spelling, or who does what a verb says. Pure.

The stemmer of the index knows plurals and endings of verbs. A form that is no word does no harm: nothing has it.
"""

import re

SPELLINGS = (
    (re.compile(r"our(?=(s|ed|ing|ful|able|ite|hood)?$)"), "or"),
    (re.compile(r"or(?=(s|ed|ing|ful|able|ite|hood)?$)"), "our"),
    (re.compile(r"is(?=(e[srd]?|ers|ing|ations?)$)"), "iz"),
    (re.compile(r"iz(?=(e[srd]?|ers|ing|ations?)$)"), "is"),
    (re.compile(r"ys(?=(e[srd]?|ers|ing)$)"), "yz"),
    (re.compile(r"yz(?=(e[srd]?|ers|ing)$)"), "ys"),
    (re.compile(r"tre(s?)$"), r"ter\1"),
    (re.compile(r"nter(s?)$"), r"ntre\1"),
    (re.compile(r"ll(?=(ed|ing|ers?|ations?)$)"), "l"),
    (re.compile(r"l(?=(ed|ing|ers?|ations?)$)"), "ll"),
    (re.compile(r"ogue(s?)$"), r"og\1"),
    (re.compile(r"og(s?)$"), r"ogue\1"),
    (re.compile(r"nce(s?)$"), r"nse\1"),
    (re.compile(r"nse(s?)$"), r"nce\1"),
    (re.compile(r"^grey"), "gray"),
    (re.compile(r"^gray"), "grey"),
)
"""British and American: colour, normalise, analyse, centre, cancelled, catalogue, licence, grey."""
SHORTEST = 5
"""Shorter words are too often other words: `for` and `four`."""
DOERS = (
    (re.compile(r"ers?$"), ""),
    (re.compile(r"ors?$"), "e"),
    (re.compile(r"(?<=[^aeiou])(?:ies|y)$"), "ier"),
    (re.compile(r"(?<=[aeiou][^aeiouwxy])(?:s|ed|ing)?$"), "er"),
    (re.compile(r"(?<=[^aeiousy])(?:s|ed|ing)?$"), "er"),
    (re.compile(r"e[sd]?$"), "er"),
)


def other_forms(word: str) -> list[str]:
    """Of a word in lower case."""
    if len(word) < SHORTEST:
        return []
    found = [pattern.sub(other, word) for pattern, other in SPELLINGS if pattern.search(word)]
    found += [pattern.sub(other, word) for pattern, other in DOERS if pattern.search(word)]
    return [*dict.fromkeys(form for form in found if form != word)]
