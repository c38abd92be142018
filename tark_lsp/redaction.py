"""Removes keys from logs: from all of Tark's records, and from what the HTTP libraries log about requests.

Not all keys are known, so they are found in four ways: by the text before them (a header, a name like `api_key`), by
their pattern, by being too random for a word, and as values of environment variables with such a name. This also
removes checksums, which is the smaller mistake in a log.
"""

import logging
import re
from collections.abc import Collection, Mapping

from tark_lsp.secrets.shapes import LETTER_DIGIT_SWITCH, key_pattern

REDACTED = "***"
MAX_CHARACTERS = 32 * 1024
"""Characters of one text that are kept; the rest is cut off."""

MIN_SECRET_LENGTH = 8
"""Characters. Shorter secrets are not searched for literally: they occur in common words."""

HEADER = re.compile(r"""\(b(['"])([\w-]+)\1, b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")
SAFE_HEADERS = frozenset(
    {"accept", "accept-encoding", "cache-control", "connection", "content-encoding", "content-length"}
    | {"content-type", "date", "host", "keep-alive", "request-id", "retry-after", "retry-after-ms", "server"}
    | {"transfer-encoding", "user-agent", "via", "x-request-id", "x-should-retry"}
)
"""Any other header can contain a secret: the user's own headers, cookies, tokens, the proxy's password."""

URL = re.compile(
    r"""([?&](?:key|api_key|apikey|(?:access_|refresh_)?token|code|device_code|user_code|client_secret)=)[^&\s'"]*"""
    r"""|(?<=://)[^/\s'"]*(?=@)""",
    re.IGNORECASE,
)
PROXY_LOGIN_OR_BAD_HEADER = re.compile(
    r"""(\bauth=)\((?:b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*"|[^'"()])*\)|(\bIllegal header value ).*""", re.DOTALL
)
"""A SOCKS proxy's name and password; and everything after an illegal header value, since quotes can be nested."""

PRIVATE_KEY = re.compile(r"(-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY).*?(?:-----END[ A-Z0-9]{0,40}|\Z)", re.DOTALL)

NAMED_VALUE = re.compile(
    r"""((?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|\bpwd|credential|authorization|cookie)[\w.-]{0,24}"""
    r"""['"`\]]{0,3}\s{0,3}(?:=>|:=|={1,3}|:{1,3}|,)\s{0,3}['"`]{0,3}(?:(?:bearer|basic|token)\s)?)"""
    r"""(?![\d.,_]+(?![^\s'"`,;)}\]]))(?:(?!&[\w-]+=)[^\s'"`,;)}\]]){6,}""",
    re.IGNORECASE,
)
"""A name that marks its value as secret. Numbers are kept (`max_tokens=8000`), and the rest of a URL's query."""

SCHEME = re.compile(r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}", re.IGNORECASE)

KEY_PREFIXES = re.compile(
    r"""(?<![A-Za-z0-9])(?:"""
    r"""(?:sk|pk|rk|xai|cpk|gsk|hf|key|tgp|nvapi|pplx|r8|fw|csk|github_pat|gh[opsur]|gl[a-z]{2,6}|npm|pypi|dop_v1"""
    r"""|xox[a-z]|xapp|shp[a-z]{2}|ya29|dapi|ATATT|SG|whsec|sntry[a-z])[-_.][\w.=-]{12,}"""
    r"""|AIza[\w-]{20,}|(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}|LTAI[a-zA-Z0-9]{12,}"""
    r"""|eyJ[\w-]{8,}(?:\.[\w-]*){0,4})"""
)
"""Text of any length that can be a key only because of its prefix. secrets/shapes.py has the full patterns; in a log,
removing too much is the smaller mistake."""

TOKEN = re.compile(r"[A-Za-z0-9_+=~.-]{16,}")
OWN_IDS = re.compile(r"(?:session|turn|call|hunk|request)-[0-9a-f]{12}")
SEPARATORS = re.compile(r"[_+=~.-]")
MAX_SWITCHES = 4
"""The most switches between digits and letters in a name that a person chose."""

RUN = re.compile(r"[A-Za-z0-9]{18,}")
MIN_DIGITS_AND_LETTERS = 2
"""The fewest digits, and letters, in a random run of 18 characters."""

SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS|OTLP(?:_\w+)?_HEADERS)$", re.IGNORECASE)


def environment_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables whose names mark them as secret, the longest first."""
    found = {value.strip() for name, value in environ.items() if SECRET_NAMES.search(name)}
    return tuple(sorted((value for value in found if len(value) >= MIN_SECRET_LENGTH), key=len, reverse=True))


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """Removes everything that is or can be a key, and every one of `secrets`. Cuts after `MAX_CHARACTERS`."""
    if len(text) > MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]}... ({len(text) - MAX_CHARACTERS} more characters)"
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    text = HEADER.sub(_header, text)
    text = PROXY_LOGIN_OR_BAD_HEADER.sub(lambda match: f"{match.group(1) or match.group(2)}{REDACTED}", text)
    text = URL.sub(lambda match: f"{match.group(1) or ''}{REDACTED}", text)
    for pattern in (PRIVATE_KEY, NAMED_VALUE, SCHEME):
        text = pattern.sub(rf"\g<1>{REDACTED}", text)
    return TOKEN.sub(_token, KEY_PREFIXES.sub(REDACTED, key_pattern().sub(REDACTED, text)))


def _header(match: re.Match[str]) -> str:
    return match.group() if match.group(2).lower() in SAFE_HEADERS else f"(b'{match.group(2)}', {REDACTED})"


def _token(match: re.Match[str]) -> str:
    token = match.group()
    if OWN_IDS.fullmatch(token):
        return token
    switches = len(LETTER_DIGIT_SWITCH.findall(SEPARATORS.sub("", token)))
    return REDACTED if switches > MAX_SWITCHES or any(_is_random(run) for run in RUN.findall(token)) else token


def _is_random(run: str) -> bool:
    digits = sum(character.isdigit() for character in run)
    return MIN_DIGITS_AND_LETTERS <= digits <= len(run) - MIN_DIGITS_AND_LETTERS


class HttpLogRedaction(logging.Filter):
    """Removes keys from what httpx and httpcore log: at DEBUG httpcore writes all headers, httpx every URL."""

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
