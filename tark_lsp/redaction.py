"""Keys are kept out of logs: out of every record of ours, and out of what the HTTP libraries write about requests.

Nobody knows all keys, so they are found in four ways: by what stands before them (a header, a name like `api_key`),
by their shape, by being too random for a word, and by being in an environment variable with such a name. A checksum
is blotted, too: in a log that is the cheaper mistake.
"""

import logging
import re
from collections.abc import Collection, Mapping

from tark_lsp.key_shapes import CHANGE, KEY

STARS = "***"
LONGEST = 32 * 1024
"""Characters of one text that are looked at; the rest is left out."""

LEAST_SECRET = 8
"""Characters of a secret that is looked for as it is: shorter ones are found in common words."""

HEADER = re.compile(r"""\(b(['"])([\w-]+)\1, b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")
SHOWN = frozenset(
    {"accept", "accept-encoding", "cache-control", "connection", "content-encoding", "content-length"}
    | {"content-type", "date", "host", "keep-alive", "request-id", "retry-after", "retry-after-ms", "server"}
    | {"transfer-encoding", "user-agent", "via", "x-request-id", "x-should-retry"}
)
"""Any other header may hold a secret: a person's own as well as cookies, tokens and the proxy's password."""

URL = re.compile(
    r"""([?&](?:key|api_key|apikey|(?:access_|refresh_)?token|code|device_code|user_code|client_secret)=)[^&\s'"]*"""
    r"""|(?<=://)[^/\s'"]*(?=@)""",
    re.IGNORECASE,
)
WHOLE = re.compile(
    r"""(\bauth=)\((?:b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*"|[^'"()])*\)|(\bIllegal header value ).*""", re.DOTALL
)
"""A SOCKS proxy's name and password; of a header that cannot be sent all that follows, as quotes may be nested."""

PRIVATE_KEY = re.compile(r"(-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY).*?(?:-----END[ A-Z0-9]{0,40}|\Z)", re.DOTALL)

NAMED = re.compile(
    r"""((?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|\bpwd|credential|authorization|cookie)[\w.-]{0,24}"""
    r"""['"`\]]{0,3}\s{0,3}(?:=>|:=|={1,3}|:{1,3}|,)\s{0,3}['"`]{0,3}(?:(?:bearer|basic|token)\s)?)"""
    r"""(?![\d.,_]+(?![^\s'"`,;)}\]]))(?:(?!&[\w-]+=)[^\s'"`,;)}\]]){6,}""",
    re.IGNORECASE,
)
"""A name that says what its value is; numbers are left (`max_tokens=8000`), and what follows in a URL's query."""

SCHEME = re.compile(r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}", re.IGNORECASE)

BEGINNINGS = re.compile(
    r"""(?<![A-Za-z0-9])(?:"""
    r"""(?:sk|pk|rk|xai|cpk|gsk|hf|key|tgp|nvapi|pplx|r8|fw|csk|github_pat|gh[opsur]|gl[a-z]{2,6}|npm|pypi|dop_v1"""
    r"""|xox[a-z]|xapp|shp[a-z]{2}|ya29|dapi|ATATT|SG|whsec|sntry[a-z])[-_.][\w.=-]{12,}"""
    r"""|AIza[\w-]{20,}|(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}|LTAI[a-zA-Z0-9]{12,}"""
    r"""|eyJ[\w-]{8,}(?:\.[\w-]*){0,4})"""
)
"""What may be a key by its beginning alone, whatever the length (key_shapes.py knows the whole of them): in a log the
cheaper mistake."""

TOKEN = re.compile(r"[A-Za-z0-9_+=~.-]{16,}")
OURS = re.compile(r"(?:session|turn|call|hunk|request)-[0-9a-f]{12}")
SEPARATORS = re.compile(r"[_+=~.-]")
MOST_SWITCHES = 4
"""Between digits and letters, in a name that somebody chose."""

RUN = re.compile(r"[A-Za-z0-9]{18,}")
LEAST_OF_BOTH = 2
"""Digits and letters in a run of 18 that nobody chose."""

SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS|OTLP(?:_\w+)?_HEADERS)$", re.IGNORECASE)


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables whose names say that they are secret, the longest first."""
    found = {value.strip() for name, value in environ.items() if SECRET_NAMES.search(name)}
    return tuple(sorted((value for value in found if len(value) >= LEAST_SECRET), key=len, reverse=True))


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """The text without what is, or may be, a key; cut after `LONGEST`. `secrets` are taken out wherever they stand."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}... ({len(text) - LONGEST} more characters)"
    for secret in secrets:
        text = text.replace(secret, STARS)
    text = HEADER.sub(_header, text)
    text = WHOLE.sub(lambda match: f"{match.group(1) or match.group(2)}{STARS}", text)
    text = URL.sub(lambda match: f"{match.group(1) or ''}{STARS}", text)
    for pattern in (PRIVATE_KEY, NAMED, SCHEME):
        text = pattern.sub(rf"\g<1>{STARS}", text)
    return TOKEN.sub(_token, BEGINNINGS.sub(STARS, KEY.sub(STARS, text)))


def _header(match: re.Match[str]) -> str:
    return match.group() if match.group(2).lower() in SHOWN else f"(b'{match.group(2)}', {STARS})"


def _token(match: re.Match[str]) -> str:
    token = match.group()
    if OURS.fullmatch(token):
        return token
    switches = len(CHANGE.findall(SEPARATORS.sub("", token)))
    return STARS if switches > MOST_SWITCHES or any(_is_random(run) for run in RUN.findall(token)) else token


def _is_random(run: str) -> bool:
    digits = sum(character.isdigit() for character in run)
    return LEAST_OF_BOTH <= digits <= len(run) - LEAST_OF_BOTH


class Redaction(logging.Filter):
    """Blots keys out of what httpx and httpcore log: at DEBUG httpcore writes all headers, httpx every URL."""

    LOGGERS = (
        "httpx",
        *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
    )

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        clean = redact(message)
        if clean != message:
            record.msg, record.args = clean, ()
        return True

    def install(self) -> None:
        for name in self.LOGGERS:
            logging.getLogger(name).addFilter(self)

    def uninstall(self) -> None:
        for name in self.LOGGERS:
            logging.getLogger(name).removeFilter(self)
