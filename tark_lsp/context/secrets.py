"""Does a text hold what looks like a key? A simple check that says what it saw; it neither finds all nor errs never.

The prefixes are those the vendors publish (https://docs.github.com/code-security/secret-scanning, gitleaks' rules).
"""

import math
import re
from collections import Counter
from collections.abc import Mapping

KINDS: Mapping[str, re.Pattern[str]] = {
    "a private key": re.compile(r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY"),
    "a URL with a password": re.compile(
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:[^\s/@]{3,200}@[^\s/]", re.IGNORECASE
    ),
    "a token": re.compile(
        r"\b(?:"
        r"sk-(?:ant-|or-|proj-|svcacct-)?[\w-]{16,}|[spr]k_(?:live|test|prod)_\w{10,}|whsec_\w{16,}"
        r"|gh[opusr]_\w{30,}|github_pat_\w{30,}|gl(?:pat|ptt|rt|soat|dt|ft|cbt|imt|agent|oas)-[\w.-]{16,}"
        r"|(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}|AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{20,}"
        r"|xox[abeoprs]-[\w-]{8,}|xapp-\d-[\w-]{8,}|hf_\w{30,}|api_org_\w{30,}|gsk_\w{30,}|xai-\w{30,}|r8_\w{30,}"
        r"|npm_\w{30,}|pypi-[\w-]{40,}|dop_v1_\w{30,}|do[or]_v1_\w{30,}|shp(?:at|ca|pa|ss)_\w{30,}|lin_api_\w{30,}"
        r"|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}|sq0(?:atp|csp)-[\w-]{20,}|EAAA[\w-]{50,}|dp\.(?:pt|st|ct|sa)\.\w{30,}"
        r"|hv[bs]\.[\w-]{20,}|pul-[0-9a-f]{40}|glsa_\w{30,}|glc_[\w+/=]{30,}|NRAK-\w{20,}|PMAK-\w{20,}|rubygems_\w{40,}"
        r"|AGE-SECRET-KEY-1\w{20,}|LTAI\w{16,}|dapi[0-9a-f]{32}|sm_[aps]at_\w{10,}|xkeysib-[0-9a-f]{30,}|FLWSECK\w*-\w{8,}"
        r"|pscale_\w+_[\w.=-]{8,}|duffel_(?:live|test)_[\w=-]{20,}|tfp_[\w.=-]{20,}|dt0c01\.\w{20,}|sl\.[\w=-]{40,}"
        r"|atlasv1\.[\w=-]{20,}|ATATT3\w{20,}|ATCTT3\w{20,}|figd_\w{20,}|nfp_\w{30,}|sntry[su]_[\w+/=.]{30,}"
        r"|ey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}"
        r")"
    ),
    "a password or key": re.compile(
        r"""(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|auth(?:orization)?|credential)s?["'\]]*
        (?:\s*(?:=|:=|=>|:)\s*|\s+is\s+)["'`]?(?:bearer\s+|basic\s+)?
        (?=[^\s"'`]*\d)(?=[^\s"'`]*[A-Za-z])[^\s"'`<>{}$()]{8,}""",
        re.IGNORECASE | re.VERBOSE,
    ),
}
RANDOM = re.compile(r"[A-Za-z0-9+_=-]{16,}")
HEXADECIMAL = re.compile(r"[0-9a-f-]+|[0-9A-F-]+")
CHANGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
CHANGES = 0.25
"""From letter to digit or back, for each character: of random letters and digits a third and more are, of names few."""
LONG, FEWEST_DIGITS, LEAST_ENTROPY = 24, 3, 4.0
"""Bits of a character: random text of upper and lower case and digits has more, what people write less."""


def looks_secret(text: str) -> str:
    """What it seems to hold, for a sentence; empty where nothing does.

    Hexadecimal alone is let through: it is a commit or a checksum far more often than a key.
    """
    for kind, pattern in KINDS.items():
        if pattern.search(text):
            return kind
    return "a random text such as a key" if any(_random(found[0]) for found in RANDOM.finditer(text)) else ""


def _random(word: str) -> bool:
    if HEXADECIMAL.fullmatch(word):
        return False
    if len(CHANGE.findall(word)) >= CHANGES * len(word):
        return True
    digits = sum(map(str.isdigit, word))
    if len(word) < LONG or digits < FEWEST_DIGITS or word.islower() or word.isupper():
        return False
    counts = Counter(word)
    entropy = -sum(count / len(word) * math.log2(count / len(word)) for count in counts.values())
    return entropy >= LEAST_ENTROPY
