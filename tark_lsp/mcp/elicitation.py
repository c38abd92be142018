"""A server's question to the user (`elicitation/create`), and the answer. Pure.

A form is asked field by field. No field may ask for a key or password: for those, a server can ask to open a web page.
"""

import math
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from tark_lsp.errors import McpError
from tark_lsp.visible import is_hidden

MOST_FIELDS = 20
LONGEST_TEXT = 1_000
SECRET_WORDS = (
    "password passwort passphrase passcode passwd secret token credential api_key private_key access_key signing_key "
    "ssh_key master_key recovery_key recovery_code recovery_phrase seed_phrase mnemonic verification_code "
    "authentication_code security_code one_time_code login_code kennwort contraseña clave mot_de_passe senha parola "
    "wachtwoord lösenord adgangskode salasana hasło heslo jelszó şifre mật_khẩu пароль 密码 密碼 口令 パスワード "
    "暗証番号 비밀번호 암호 كلمة_السر كلمة_المرور סיסמה"
)
"""`_` matches any separator between two words, or none."""
SHORT_SECRET = re.compile(r"(?<![^\W_])(?:pwd|otp|totp|pin|2fa|mfa|cvv|cvc|psk)(?![^\W_])")
"""Words that also occur inside other words, so they must stand alone."""
WEB_PAGE = re.compile(r"https?://[^/?#@\\]+(?:[/?#][^\\]*)?", re.IGNORECASE)
"""The URL has a host, and no user name that looks like a host."""
OURS = frozenset({"decline", "skip"})
"""Labels of Tark's own buttons."""
FieldKind: TypeAlias = Literal["text", "number", "integer", "boolean", "choice", "choices"]
Value: TypeAlias = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class FormField:
    """`options`: (value, label) of a choice. `default` is None if there is none."""

    name: str
    kind: FieldKind
    title: str = ""
    description: str = ""
    options: tuple[tuple[str, str], ...] = ()
    required: bool = False
    default: Value | None = None


@dataclass(frozen=True, slots=True)
class Form:
    message: str
    fields: tuple[FormField, ...]


@dataclass(frozen=True, slots=True)
class UrlToOpen:
    message: str
    url: str


Elicitation: TypeAlias = Form | UrlToOpen
Elicit: TypeAlias = Callable[[Elicitation], Awaitable[Mapping[str, Value] | None]]
"""Asks the user. Returns the values of the form (empty for a URL that was opened), or None if they decline."""


def read_elicitation(params: Mapping[str, Any]) -> Elicitation:
    """Raises McpError if the question must not be asked, or cannot be shown."""
    message = str(params.get("message", ""))[:LONGEST_TEXT]
    if params.get("mode") == "url":
        url = params.get("url")
        if not isinstance(url, str) or len(url) > 4_000 or not _is_web_page(url):
            raise McpError("it asks to open something that is not a web page")
        return UrlToOpen(message, url)
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties or len(properties) > MOST_FIELDS:
        raise McpError("it asks for a form that cannot be shown")
    required = schema.get("required") if isinstance(schema, dict) else None
    needed = required if isinstance(required, list) else []
    if _names_secret(message):
        raise McpError("it asks for something that looks like a key or password, which no form may do")
    fields = tuple(_field(name, value, name in needed) for name, value in properties.items())
    return Form(message, fields)


def _field(name: str, schema: Any, required: bool) -> FormField:
    if not isinstance(schema, dict):
        raise McpError("it asks for a form that cannot be shown")
    title, description = (str(schema.get(key, ""))[:LONGEST_TEXT] for key in ("title", "description"))
    if schema.get("format") == "password" or any(map(_names_secret, (name, title, description))):
        raise McpError(f"it asks for something that looks like a key or password ({name[:80]}), which no form may do")
    items = schema.get("items")
    several = schema.get("type") == "array"
    options = _options(items if several and isinstance(items, dict) else schema)
    kinds: dict[str, FieldKind] = {"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}
    kind = ("choices" if several else "choice") if options else kinds.get(str(schema.get("type", "string")))
    if kind is None:
        raise McpError(f"it asks for a field of a form that cannot be shown: {name[:80]}")
    default = schema.get("default")
    usable = default if isinstance(default, str | int | float | bool) or (several and _is_words(default)) else None
    return FormField(name, kind, title, description, options, required, usable)


def _names_secret(text: str) -> bool:
    """Whether the text has a word for a key or password, in the languages above. It helps, but can be evaded."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", "".join(one for one in text if not is_hidden(one)))
    plain = _letters(text)
    words = unicodedata.normalize("NFKC", spaced).casefold()
    return SHORT_SECRET.search(words) is not None or any(_letters(word) in plain for word in SECRET_WORDS.split())


def _letters(text: str) -> str:
    """Only the letters and digits, without accents and case, so that no spelling hides a word."""
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if one.isalnum())


def _is_web_page(url: str) -> bool:
    """Only plain ASCII is allowed, because a letter that looks like another one makes another host."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return bool(host) and re.fullmatch(r"[\x21-\x7e]+", url) is not None and WEB_PAGE.fullmatch(url) is not None


def _label(text: str) -> str:
    """Labels of Tark's own buttons get a prefix, so that no answer looks like the button that declines."""
    return f"answer: {text}" if text.strip().casefold() in OURS else text


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _options(schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(value, label) of each option: from `enum` (with `enumNames`), or `oneOf` or `anyOf` of constants."""
    if isinstance(values := schema.get("enum"), list):
        names = schema.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        return tuple((str(value), _label(str(label))) for value, label in zip(values, labels, strict=True))
    titled = schema.get("oneOf") or schema.get("anyOf")
    found = [one for one in titled if isinstance(one, dict) and "const" in one] if isinstance(titled, list) else []
    return tuple((str(one["const"]), _label(str(one.get("title", one["const"])))) for one in found)


def typed_value(field: FormField, typed: str) -> Value:
    """What the user typed, as a value of the field's type. Raises ValueError."""
    match field.kind:
        case "integer":
            return int(typed)
        case "number":
            number = float(typed)
            if not math.isfinite(number):  # JSON has only finite numbers
                raise ValueError("not finite")
            return number
        case "boolean":
            if typed.lower() not in ("yes", "no", "true", "false"):
                raise ValueError("yes or no")
            return typed.lower() in ("yes", "true")
        case _:
            return typed


def accepted(elicitation: Elicitation, values: Mapping[str, Value] | None) -> dict[str, Any]:
    """The result for the server. `values` None: the user declined."""
    if values is None:
        return {"action": "decline"}
    return {"action": "accept", **({"content": dict(values)} if isinstance(elicitation, Form) else {})}


DECLINED: Mapping[str, Any] = {"action": "decline"}
CANCELLED: Mapping[str, Any] = {"action": "cancel"}
